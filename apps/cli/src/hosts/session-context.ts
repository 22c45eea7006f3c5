import { join } from 'node:path'
import { contextLength, contextLimit, type Host } from '@recall/agents'
import { fenceRecalled, redactText } from '@recall/core'
import { beginningOf } from '@recall/core/text'
import { defaultFileSystem, memoryLineLimit, readText } from '@recall/store-file'
import { emptyMemory } from '../memory/empty-memory.ts'
import type { MemoryPlace } from './session-notes.ts'

const separator = /^---[ \t]*$/m
/** Characters reserved for the fence around the text. */
const overhead = 400
/** Less room than this is useless. */
const leastRoom = 400

export interface SessionContext {
  text: string
  /** Number of sessions in the text. */
  sessions: number
  /** The part of the window in the text, verbatim: sessions, and notes that a person wrote between them. */
  window: string
  isCurated: boolean
}

/**
 * The context for a starting session: the newest sessions of the window and the curated memory, fenced as data, as much
 * as the host takes. Empty when there is nothing to tell. A file that cannot be read is left out.
 *
 * @param onNotice receives why a file was left out
 */
export function sessionContext(
  place: MemoryPlace,
  host: Host,
  onNotice: (text: string) => void,
): SessionContext {
  const read = (path: string): string => {
    try {
      return readText(defaultFileSystem, join(place.root, path))?.content.replaceAll('\r\n', '\n') ?? ''
    } catch (error) {
      onNotice((error as Error).message)
      return ''
    }
  }
  // Redacted here as well: a replacement is longer than most secrets, and the cut text must fit afterwards.
  const curated = redactText(curatedText(read(place.layout.curated))).text
  const entries = read(place.layout.window)
    .split(separator)
    .map((entry) => entry.trim())
    .filter(Boolean)
  if (curated === '' && entries.length === 0) return nothingToTell
  const limit = contextLimit(host)
  // Fencing escapes marks inside the text, and not every host counts characters: retry with less text.
  for (let room = limit - overhead; room >= leastRoom; room = Math.floor(room * 0.7)) {
    const context = contextWithin(room, curated, entries)
    if (contextLength(host, context.text) <= limit) return context
  }
  return nothingToTell
}

function contextWithin(room: number, curated: string, entries: readonly string[]): SessionContext {
  const window = newest(entries, curated === '' ? room : Math.max(room - curated.length, room / 2))
  const parts = [
    ...(window.text === '' ? [] : [`# The last sessions, the latest last\n\n${window.text}`]),
    ...(curated === '' ? [] : [clipped(curated, room - window.text.length)]),
  ].filter(Boolean)
  // Redact, because a person may have typed a secret into a file, and the text goes to the provider of the agent's
  // model.
  const redacted = redactText(parts.join('\n\n---\n\n')).text
  const text = fenceRecalled(redacted, 'session window and curated memory')
  return { text, sessions: window.sessions, window: window.text, isCurated: curated !== '' }
}

export const nothingToTell: SessionContext = { text: '', sessions: 0, window: '', isCurated: false }

/** As many of the latest entries as fit; the last one is cut off if even that does not. */
function newest(entries: readonly string[], room: number): { text: string; sessions: number } {
  const chosen: string[] = []
  let length = 0
  for (const entry of entries.toReversed()) {
    const cost = entry.length + 7
    if (length + cost > room) break
    chosen.unshift(entry)
    length += cost
  }
  const last = entries.at(-1)
  const told = chosen.length === 0 && last !== undefined ? [clipped(last, room)] : chosen
  return { text: told.join('\n\n---\n\n'), sessions: told.filter(isSession).length }
}

/** A person may have written notes between the sessions. */
const isSession = (entry: string): boolean => /^\s*## Session /.test(entry)

/** The curated memory; empty if it has only a title and the text that `init` wrote. */
function curatedText(text: string): string {
  const lines = text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .slice(0, memoryLineLimit)
  const isWritten = lines.some((line) => !/^#\s/.test(line) && !emptyMemory.includes(line.trim()))
  return isWritten ? lines.join('\n').trim() : ''
}

function clipped(text: string, room: number): string {
  if (text.length <= room) return text
  const most = Math.max(0, room - 60)
  const cut = beginningOf(text, most)
  // Cut at the end of a line, unless that would drop most of a long one.
  const ends = [cut.lastIndexOf('\n'), cut.lastIndexOf(' ')]
  return `${cut.slice(
    0,
    ends.find((end) => end > most / 2),
  )}\n\n[… the rest is in memory: search it]`
}
