import { join } from 'node:path'
import type { Address } from '@recall/core'
import * as z from 'zod/mini'
import type { FileStore } from './file-store.ts'
import { appendDurably, ensureFolder } from './files/atomic-write.ts'
import { sha256 } from './files/digest.ts'
import { type FileStamp, sameStamp, stampAt } from './files/file-stamp.ts'
import type { FileSystem } from './files/file-system.ts'
import { readText } from './files/read-text.ts'

const tombstoneSchema = z.object({ address: z.string(), at: z.string() })

/**
 * Records what was forgotten on request, so that an import does not bring it back. Only hashes of addresses are kept:
 * the list must not reveal what was in them.
 */
export function addTombstones(
  fileSystem: FileSystem,
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
  addresses: readonly Address[],
  at: number,
): void {
  const folder = join(root, layout.internal)
  ensureFolder(fileSystem, folder)
  const lines = addresses.map(
    (address) => `${JSON.stringify({ address: addressHash(address), at: new Date(at).toISOString() })}\n`,
  )
  // A crash may have torn the previous line: start a new one, so that this one stays readable.
  appendDurably(fileSystem, join(folder, tombstoneFile), `\n${lines.join('')}`)
}

/** @returns a test for addresses that were forgotten, also while an import that asks it goes on */
export function readTombstones(
  fileSystem: FileSystem,
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
): (address: Address) => boolean {
  const path = join(root, layout.internal, tombstoneFile)
  let known: FileStamp | null = null
  let forgotten = new Set<string>()
  return (address) => {
    const stamp = stampAt(fileSystem, path)
    if (!stamp || !known || !sameStamp(stamp, known)) {
      const file = readText(fileSystem, path)
      known = file?.stamp ?? null
      forgotten = addressesIn(file?.content ?? '')
    }
    return forgotten.has(addressHash(address))
  }
}

function addressesIn(content: string): Set<string> {
  const addresses = new Set<string>()
  for (const line of content.split('\n')) {
    // The last line may be torn by a crash; what it belonged to was not acknowledged.
    const tombstone = parseLine(line)
    if (tombstone) addresses.add(tombstone.address)
  }
  return addresses
}

const tombstoneFile = 'tombstones.jsonl'

function parseLine(line: string): z.output<typeof tombstoneSchema> | null {
  try {
    return tombstoneSchema.parse(JSON.parse(line))
  } catch {
    return null
  }
}

const addressHash = ({ scope, namespace, key }: Address): string =>
  sha256(JSON.stringify([namespace, scope, key]))
