import { join } from 'node:path'
import { type Address, type JsonValue, redactJson } from '@recall/core'
import * as z from 'zod/mini'
import { sectionOf } from './documents/sections.ts'
import type { FileStore } from './file-store.ts'
import { appendDurably } from './files/atomic-write.ts'
import { sha256 } from './files/digest.ts'
import { type FileStamp, sameStamp, stampAt } from './files/file-stamp.ts'
import type { FileSystem } from './files/file-system.ts'
import { ensureBelow, onlyUser } from './files/folders.ts'
import { readText } from './files/read-text.ts'

const tombstoneSchema = z.object({
  /** Hash of an address, or of a section's text. */
  address: z.string(),
  at: z.string(),
  lifted: z.optional(z.boolean()),
})

/** What a look-up asks about: an address and, for an entry, its value. */
type Asked = Address & { value?: JsonValue }

/**
 * Records what was forgotten on request, so that an import does not bring it back. Only hashes of addresses and of
 * sections' texts are kept: the list must not reveal what was in them.
 */
export async function addTombstones(
  fileSystem: FileSystem,
  store: Pick<FileStore, 'root' | 'layout' | 'get'>,
  addresses: readonly Address[],
  at: number,
): Promise<void> {
  const marks: Tombstone[] = []
  for (const address of addresses) {
    const section = sectionOf(address.key) && (await store.get(address, at))
    for (const hash of hashesOf(section ?? address)) marks.push(toTombstone(hash, at))
  }
  append(fileSystem, store, marks)
}

/**
 * Removes the marks of keys that name something else now that the marked entry is gone: the next section with the same
 * heading. The removed text stays marked.
 */
export async function liftTombstones(
  fileSystem: FileSystem,
  store: Pick<FileStore, 'root' | 'layout' | 'get'>,
  addresses: readonly Address[],
  at: number,
): Promise<void> {
  const marks: Tombstone[] = []
  for (const address of addresses) {
    if (sectionOf(address.key) && (await store.get(address, at)))
      marks.push({ ...toTombstone(addressHash(address), at), lifted: true })
  }
  append(fileSystem, store, marks)
}

type Tombstone = z.output<typeof tombstoneSchema>

const toTombstone = (hash: string, at: number): Tombstone => ({
  address: hash,
  at: new Date(at).toISOString(),
})

function append(
  fileSystem: FileSystem,
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
  marks: readonly Tombstone[],
): void {
  if (marks.length === 0) return
  const folder = join(root, layout.internal)
  ensureBelow(fileSystem, root, folder, onlyUser)
  const lines = marks.map((mark) => `${JSON.stringify(mark)}\n`)
  // A crash may have torn the previous line: start a new one, so that this one stays readable.
  appendDurably(fileSystem, join(folder, tombstoneFile), `\n${lines.join('')}`)
}

/** @returns a test for what was forgotten, which stays current while an import runs */
export function readTombstones(
  fileSystem: FileSystem,
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
): (asked: Address & { value?: JsonValue }) => boolean {
  const path = join(root, layout.internal, tombstoneFile)
  let known: FileStamp | null = null
  let forgotten = new Set<string>()
  return (asked) => {
    const stamp = stampAt(fileSystem, path)
    if (!stamp || !known || !sameStamp(stamp, known)) {
      const file = readText(fileSystem, path)
      known = file?.stamp ?? null
      forgotten = hashesIn(file?.content ?? '')
    }
    return hashesOf(asked).some((hash) => forgotten.has(hash))
  }
}

function hashesIn(content: string): Set<string> {
  const hashes = new Set<string>()
  for (const line of content.split('\n')) {
    // The last line may be torn by a crash; its write was not acknowledged.
    const tombstone = parseLine(line)
    if (tombstone?.lifted) hashes.delete(tombstone.address)
    else if (tombstone) hashes.add(tombstone.address)
  }
  return hashes
}

/** In the internal folder: the marks of forgotten entries. */
const tombstoneFile = 'tombstones.jsonl'

function parseLine(line: string): Tombstone | null {
  try {
    return tombstoneSchema.parse(JSON.parse(line))
  } catch {
    return null
  }
}

/** A section is also identified by its text: removing one with the same heading gives it another number. */
const hashesOf = (asked: Asked): string[] =>
  sectionOf(asked.key) && asked.value !== undefined
    ? [addressHash(asked), textHash(asked)]
    : [addressHash(asked)]

const addressHash = ({ scope, namespace, key }: Address): string =>
  sha256(JSON.stringify([namespace, scope, key]))

/** Hash of a text as it is exported, without secrets that a person typed into the file. */
const textHash = ({ scope, namespace, key, value = null }: Asked): string =>
  sha256(JSON.stringify([namespace, scope, key.replace(/-\d+$/, ''), redactJson(value).value]))
