import { dirname } from 'node:path'
import {
  type Entry,
  isEnvelope,
  isMemoryError,
  type JsonObject,
  type JsonValue,
  MemoryError,
  MemoryErrorCode,
  redactJson,
} from '@recall/core'
import { mapStrings, searchableText } from '@recall/core/json'
import { archivedFiles } from './cold/cold-folder.ts'
import { pack, unpack } from './cold/packed-entry.ts'
import type { FileStore } from './file-store.ts'
import { replaceFile } from './files/atomic-write.ts'
import type { FileSystem } from './files/file-system.ts'
import { fromShown, isInside } from './files/paths.ts'

/** For example `redactText` of `@recall/core`. */
export type Redact = (text: string) => { text: string; counts: Record<string, number> }

/**
 * The namespaces of archived entries. The index knows only those of entries that are not archived.
 *
 * @throws MemoryError CORRUPTION when an archived entry cannot be read
 */
export function archivedNamespaces(
  fileSystem: FileSystem,
  store: Pick<FileStore, 'root' | 'layout'>,
): string[] {
  // A folder's name holds only the readable part of its namespace: an entry in it has the whole name.
  const oneOfEach = new Map(archivedFiles(fileSystem, store).map((path) => [dirname(path), path]))
  const paths = [...oneOfEach.values()].map((path) => fromShown(store.root, path))
  const inside = paths.filter((path) => isInside(fileSystem, store.root, dirname(path)))
  return [...new Set(inside.map((path) => String(read(fileSystem, path).namespace)))]
}

/**
 * Counts the secrets of an archived entry, and with `apply` replaces them; encrypted values stay as they are.
 *
 * @throws MemoryError CORRUPTION when it cannot be read
 */
export function scrubArchived(
  fileSystem: FileSystem,
  { root, exclusively }: Pick<FileStore, 'root' | 'exclusively'>,
  path: string,
  redact: Redact,
  apply: boolean,
): Record<string, number> {
  const target = fromShown(root, path)
  if (!isInside(fileSystem, root, dirname(target))) return {}
  return exclusively(() => {
    const { entry, counts } = withoutSecrets(read(fileSystem, target), redact)
    if (apply && Object.keys(counts).length > 0) {
      replaceFile(fileSystem, target, pack(entry as unknown as Entry))
    }
    return counts
  })
}

function withoutSecrets(
  { version: _, value = null, ...facts }: JsonObject,
  redact: Redact,
): { entry: JsonObject; counts: Record<string, number> } {
  const counts: Record<string, number> = {}
  const add = (found: Record<string, number>): void => {
    for (const [kind, count] of Object.entries(found)) counts[kind] = (counts[kind] ?? 0) + count
  }
  const clean = (part: JsonValue): JsonValue =>
    mapStrings(part, (text) => {
      const found = redact(text)
      add(found.counts)
      return found.text
    })
  if (isEnvelope(value)) return { entry: { ...(clean(facts) as JsonObject), value }, counts }
  // Perhaps only the name of a member shows that its value is a secret, and a text made from the value repeats only the
  // value.
  const found = redactJson(value)
  add(found.counts)
  const kept = { ...(clean(facts) as JsonObject), value: clean(found.value) }
  const isOwnText = facts.text === searchableText(value)
  return { entry: isOwnText ? { ...kept, text: searchableText(kept.value) } : kept, counts }
}

function read(fileSystem: FileSystem, path: string): JsonObject {
  try {
    if (!fileSystem.lstatSync(path).isFile()) throw new Error('it is not a plain file')
    return unpack(fileSystem.readFileSync(path)) as JsonObject
  } catch (cause) {
    if (isMemoryError(cause)) throw cause
    throw new MemoryError(`${path} cannot be unpacked`, MemoryErrorCode.CORRUPTION, {
      cause,
      details: { path },
    })
  }
}
