import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileStore, writeInternal } from '@recall/store-file'
import { sha256 } from '../digest.ts'

export type ImportJournal = ReturnType<typeof openJournal>

/**
 * Records the state in which each file was imported, what was written of each memory, and from which file; names and
 * texts as hashes only. Losing it costs time, and then memories that differ from their source are left as they are.
 */
export function openJournal(store: FileStore) {
  const known = new Map<string, string>(Object.entries(readJournal(store)))
  const added = new Map<string, string>()
  const name = (source: string): string => sha256(source).slice(0, 24)
  return {
    knows: (source: string): boolean => known.has(name(source)),
    has: (source: string, stamp: string): boolean => known.get(name(source)) === stamp,
    add(source: string, stamp: string): void {
      known.set(name(source), stamp)
      added.set(name(source), stamp)
    },
    /** Keeps what other processes have saved meanwhile. */
    save(): void {
      const all = new Map([...known, ...Object.entries(readJournal(store)), ...added])
      writeInternal(store, 'imports.json', JSON.stringify(Object.fromEntries(all)))
    },
  }
}

function readJournal({ root, layout }: FileStore): Record<string, string> {
  try {
    const journal = JSON.parse(readFileSync(join(root, layout.internal, 'imports.json'), 'utf8'))
    // A damaged journal, whatever it holds, must not prevent a session from being archived.
    return journal ?? {}
  } catch {
    return {}
  }
}
