import { join } from 'node:path'
import { conversationType, sessionSummaryType } from '@recall/core'
import { isJsonObject } from '@recall/core/json'
import { defaultFileSystem, type LocatedHit, openingOf, readBeginning } from '@recall/store-file'

/** Enough for the front matter of an archive and the beginning of its summary, except in very unusual ones. */
const beginningLength = 16 * 1024

/**
 * Returns a function that names what a hit is part of: the title of a session or a section. A session without a title
 * is named by the beginning of its summary, which is read from the archive once.
 */
export function titlesIn(root: string): (hit: LocatedHit) => string {
  const openings = new Map<string, string | undefined>()
  const openingIn = (path: string): string | undefined => {
    if (!openings.has(path)) {
      const beginning = readBeginning(defaultFileSystem, join(root, path), beginningLength)
      openings.set(path, beginning === null ? undefined : openingOf(beginning))
    }
    return openings.get(path)
  }
  return ({ type, fields, key, path, text }) => {
    const { title, summary, topics } = isJsonObject(fields) ? fields : {}
    if (type === sessionSummaryType) return firstLineOf(summary) ?? key
    if (type !== conversationType) return /^#{1,3} +(.+)$/m.exec(text)?.[1] ?? key
    if (typeof title === 'string' && title !== '') return title
    const named = Array.isArray(topics) && topics.length > 0 ? topics.join(', ') : key
    return openingIn(path) ?? named
  }
}

const firstLineOf = (text: unknown): string | undefined =>
  typeof text === 'string' ? text.split(/\r?\n/).find((line) => line.trim() !== '') : undefined
