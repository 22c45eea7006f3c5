import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { addTombstones, readTombstones } from '../src/tombstones.ts'
import { openWithArchives } from './support/open-with-archives.ts'

describe('tombstones', () => {
  it('are found again, without saying what was forgotten, also after a torn line', async () => {
    const { store, memory, root } = await openWithArchives(0)
    const address = (key: string) => ({ namespace: 'default', scope: 'long-term' as const, key })
    await addTombstones(defaultFileSystem, store, [address('one'), address('two')], 0)
    const path = join(root, 'memory/.recall/tombstones.jsonl')
    appendFileSync(path, '{"address":"torn')
    await addTombstones(defaultFileSystem, store, [address('three')], 0)
    const isForgotten = readTombstones(defaultFileSystem, store)
    expect(['one', 'two', 'three', 'four'].map((key) => isForgotten(address(key)))).toEqual([
      true,
      true,
      true,
      false,
    ])
    expect(readFileSync(path, 'utf8')).not.toContain('three')
    await memory.close()
  })

  it('are seen also when they are added after somebody began to ask for them', async () => {
    const { store, memory } = await openWithArchives(0)
    const address = (key: string) => ({ namespace: 'default', scope: 'long-term' as const, key })
    const isForgotten = readTombstones(defaultFileSystem, store)
    for (const key of ['one', 'two']) {
      expect(isForgotten(address(key))).toBe(false)
      await addTombstones(defaultFileSystem, store, [address(key)], 0)
      expect(isForgotten(address(key))).toBe(true)
    }
    await memory.close()
  })
})
