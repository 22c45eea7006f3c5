import { createHash } from 'node:crypto'
import {
  type Address,
  type MemoryManager,
  type MemoryScope,
  memoryScopes,
  searchableText,
  toJsonValue,
} from '@recall/core'
import { addTombstones, defaultFileSystem, type FileStore } from '@recall/store-file'
import { exitCodes, UsageError } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { count } from '../format.ts'
import type { Io } from '../io.ts'
import { withMemory } from '../memory.ts'

export interface ForgetOptions extends RootOptions {
  json?: boolean
  containing?: string
  scope?: MemoryScope
  yes?: boolean
}

/** Removes memories for good and leaves tombstones, so that an import does not bring them back. */
export async function forget(io: Io, keys: string[], options: ForgetOptions): Promise<number> {
  if (keys.length === 0 && !options.containing)
    throw new UsageError('say which key to forget, or --containing <text>')
  return withMemory(io, options, async (memory, store) => {
    const found = [...(await byKey(memory, keys, options.scope)), ...(await byText(memory, options))]
    const addresses = [
      ...new Map(found.map((address) => [`${address.scope} ${address.key}`, address])).values(),
    ]
    if (options.yes) await remove(io, memory, store, addresses)
    const receipt = {
      forgotten: options.yes === true,
      at: new Date(io.now()).toISOString(),
      memories: addresses.map(({ scope, key }) => ({ scope, key })),
      receipt: createHash('sha256').update(JSON.stringify(addresses)).digest('hex').slice(0, 16),
    }
    if (options.json) io.out(`${JSON.stringify(receipt)}\n`)
    else if (addresses.length === 0) io.out('Nothing to forget.\n')
    else {
      for (const { scope, key } of addresses) io.out(`${scope.padEnd(11)} ${key}\n`)
      const n = count(addresses.length, 'memory').replace('memorys', 'memories')
      io.out(
        options.yes
          ? `\n${n} forgotten at ${receipt.at}, receipt ${receipt.receipt}. Backups and exports still hold them.\n`
          : `\nRun the same with --yes to forget ${n}.\n`,
      )
    }
    return addresses.length > 0 ? exitCodes.fine : exitCodes.no
  })
}

/** Removes memories for good, in a way that an import does not bring them back. */
export async function remove(
  io: Io,
  memory: MemoryManager,
  store: FileStore,
  addresses: Address[],
): Promise<void> {
  // The tombstone comes first: a crash in between leaves something to forget again, not something to come back.
  addTombstones(defaultFileSystem, store, addresses, io.now())
  for (const { scope, key } of addresses) await memory.delete(scope, key)
  store.index.fresh()
}

/** A session's archive stands for the session: its other parts and its entry in the window go with it. */
export async function byKey(memory: MemoryManager, keys: string[], scope?: MemoryScope): Promise<Address[]> {
  const found: Address[] = []
  for (const key of keys) {
    for (const each of scope ? [scope] : memoryScopes) {
      if (await memory.exists(each, key)) found.push({ scope: each, namespace: memory.namespace, key })
    }
    const session = /^conversation:(.+?)(?:#\d+)?$/.exec(key)?.[1]
    if (session === undefined || scope) continue
    if (await memory.exists('short-term', `session:${session}`))
      found.push({ scope: 'short-term', namespace: memory.namespace, key: `session:${session}` })
    const parts = await memory.search(
      'episodic',
      { filters: { sessionId: session } },
      { limit: 1000, touch: false },
    )
    found.push(
      ...parts.map((part): Address => ({ scope: 'episodic', namespace: memory.namespace, key: part.key })),
    )
  }
  return found
}

async function byText(memory: MemoryManager, { containing, scope }: ForgetOptions): Promise<Address[]> {
  if (!containing) return []
  const found: Address[] = []
  for (const each of scope ? [scope] : memoryScopes) {
    for (let offset = 0; ; offset += 100) {
      const page = await memory.search(each, {}, { limit: 100, offset, touch: false })
      for (const { key, value } of page) {
        if (searchableText(toJsonValue(value)).includes(containing))
          found.push({ scope: each, namespace: memory.namespace, key })
      }
      if (page.length < 100) break
    }
  }
  return found
}
