import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { FileSystem } from '../files/file-system.ts'
import { readText } from '../files/read-text.ts'
import type { Layout } from './layout.ts'

/** In the root: names its layout, and what lies in an unusual place. */
export const layoutFile = '.recall-echo.json'

/** What the file says; a place that it does not name is where the layout puts it. */
export interface OwnLayout {
  layout?: Layout['name']
  paths: Partial<Pick<Layout, 'window' | 'archiveIndex' | 'archives'>>
}

/** What each name of the file stands for. */
const places = { ephemeral: 'window', archive: 'archiveIndex', conversations: 'archives' } as const

/**
 * What the root's own file says about its layout; empty where there is none.
 *
 * Checked by hand: every command reads it, including those too short to load a validator.
 *
 * @throws MemoryError INVALID_INPUT when the file is not valid, because a guess would write where nobody looks
 */
export function readLayoutFile(fileSystem: FileSystem, root: string): OwnLayout {
  const file = readText(fileSystem, join(root, layoutFile))
  if (!file) return { paths: {} }
  const refuse = (problem: string): never => {
    throw new MemoryError(`${join(root, layoutFile)}: ${problem}`, MemoryErrorCode.INVALID_INPUT)
  }
  const members = (value: unknown, name: string, known: readonly string[]): Record<string, unknown> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return refuse(`${name} must be an object`)
    const unknown = Object.keys(value).find((each) => !known.includes(each))
    if (unknown !== undefined) refuse(`'${unknown}' is not known: ${name} may have ${known.join(', ')}`)
    return value as Record<string, unknown>
  }

  const { layout, paths = {} } = members(parsed(file.content, refuse), 'the file', ['layout', 'paths'])
  if (layout !== undefined && layout !== 'entity' && layout !== 'user')
    return refuse("layout must be 'entity' or 'user'")
  const own: OwnLayout = { ...(layout ? { layout } : {}), paths: {} }
  for (const [name, path] of Object.entries(members(paths, 'paths', Object.keys(places)))) {
    const isMarkdown = name !== 'conversations'
    if (typeof path !== 'string' || !isOwnPlace(path) || (isMarkdown && !path.endsWith('.md'))) {
      refuse(
        `paths.${name} must be a ${isMarkdown ? 'markdown file' : 'folder'} below the root, such as ${isMarkdown ? 'notes/EPHEMERAL.md' : 'notes/sessions'}, that is neither hidden nor in a folder of entries`,
      )
    }
    own.paths[places[name as keyof typeof places]] = path as string
  }
  return own
}

function parsed(content: string, refuse: (problem: string) => never): unknown {
  try {
    // Some editors write a byte order mark.
    return JSON.parse(content.replace(/^\ufeff/, ''))
  } catch (error) {
    return refuse(`is not JSON: ${(error as Error).message}`)
  }
}

/** Folders of entries and of the store itself, in `memory`. */
const taken =
  /^memory(?:\/(?:MEMORY\.md|(?:working|short-term|long-term|episodic|namespaces|cold)(?:\/.*)?))?$/i

const isOwnPlace = (path: string): boolean =>
  path.split('/').every((name) => /^[^.\\:\0][^\\:\0]*$/.test(name)) && !taken.test(path)
