import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { loadSqlite } from '../src/sqlite/driver.ts'
import { openWithArchives } from './support/open-with-archives.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('the access counts', () => {
  it.each(['rubbish', 'deleted'])('never keep anybody from reading: %s', async (what) => {
    const root = temporaryRoot()
    const notices: string[] = []
    const open = () => openFileMemory({ root, onNotice: (text) => notices.push(text) })
    const first = await open()
    await first.write('long-term', 'note', 'text')
    await first.read('long-term', 'note')
    await first.close()
    const path = join(root, 'memory/.recall/access.db')
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    if (what === 'deleted') rmSync(path)
    else writeFileSync(path, 'rubbish '.repeat(4000))
    const memory = await open()
    expect(await memory.read('long-term', 'note')).toBe('text')
    const record = await memory.read('long-term', 'note', { includeMetadata: true })
    expect(record?.metadata.accessCount).toBe(2)
    expect(notices).toHaveLength(what === 'deleted' ? 0 : 1)
    await memory.close()
  })

  it('start anew while the memory is open and its own folder is deleted', async () => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'note', 'text')
    await memory.read('long-term', 'note')
    rmSync(at('.recall'), { recursive: true })
    await memory.read('long-term', 'note')
    expect(existsSync(at('.recall/access.db'))).toBe(true)
    await memory.close()
  })

  it('hold nothing of what is gone, whichever way it went', async () => {
    const { store, memory, at } = await openWithArchives(0)
    const keys = ['deleted', 'MEMORY.md#deleted', 'in-a-batch', 'cleared']
    for (const key of keys) await memory.write('long-term', key, 'text')
    for (const key of keys) await memory.read('long-term', key)
    await memory.write('working', 'swept', 'text', { ttl: 1 })
    await store.touch([{ namespace: 'default', scope: 'working', key: 'swept' }], 0)
    await memory.write('episodic', 'kept', 'text')
    await memory.read('episodic', 'kept')
    await memory.delete('long-term', 'deleted')
    await memory.delete('long-term', 'MEMORY.md#deleted')
    await memory.atomicUpdate('long-term', [{ operation: 'delete', key: 'in-a-batch' }])
    await memory.clear('long-term')
    await store.sweep({ namespace: 'default', scope: 'working', now: Date.now() + 10, dryRun: false })
    const database = (await loadSqlite())(at('.recall/access.db'))
    const rows = database.prepare('SELECT key FROM access').all()
    database.close()
    expect(rows).toEqual([{ key: 'kept' }])
    await memory.close()
  })

  it('hold nothing of removed files after a full rebuild, and all of those that nobody can read', async () => {
    const { store, memory, at } = await openWithArchives(0)
    const keys = ['kept', 'removed', 'removed in quotes: "', 'unread', 'unread in quotes: "']
    for (const key of keys) await memory.write('long-term', key, 'text')
    await memory.write('working', 'removed', 'text')
    await memory.write('episodic', 'unread', 'text')
    for (const key of keys) await memory.read('long-term', key)
    await memory.read('working', 'removed')
    await memory.read('episodic', 'unread')
    for (const name of readdirSync(at('long-term'))) {
      if (name.startsWith('removed')) rmSync(at('long-term', name))
      if (name.startsWith('unread')) writeFileSync(at('long-term', name), '---\nkey: [\n---\ntext\n')
    }
    rmSync(at('working/removed.md'))
    writeFileSync(at('episodic/unread.md'), Buffer.from([0xff]))
    store.reindex({ full: true })
    const database = (await loadSqlite())(at('.recall/access.db'))
    const rows = database.prepare('SELECT key FROM access ORDER BY scope, key').all() as { key: string }[]
    database.close()
    expect(rows.map(({ key }) => key)).toEqual(['unread', 'kept', 'unread', 'unread in quotes: "'])
    expect(readFileSync(at('.recall/access.db'), 'latin1')).not.toContain('removed')
    await memory.close()
  })

  it('are those of the entry that stands there now, also where they order and filter', async () => {
    const { memory, at } = await openWithArchives(0)
    await memory.write('long-term', 'MEMORY.md#people', 'Ada')
    await memory.write('long-term', 'note', 'text')
    for (let i = 0; i < 5; i++) await memory.read('long-term', 'MEMORY.md#people')
    await memory.read('long-term', 'note')
    writeFileSync(at('MEMORY.md'), '## people\n\nGrace\n')
    utimesSync(at('MEMORY.md'), 1, 1)
    const options = { sortBy: 'accessCount', touch: false } as const
    const found = await memory.search('long-term', {}, options)
    expect(found.map(({ key }) => key)).toEqual(['note', 'MEMORY.md#people'])
    const often = { filters: { accessCount: { gte: 5 } } }
    expect(await memory.search('long-term', often, options)).toEqual([])
    await memory.close()
  })

  it('stay when a write is refused, because there is a memory already', async () => {
    const { memory } = await openWithArchives(0)
    await memory.write('long-term', 'note', 'text')
    await memory.read('long-term', 'note')
    await expect(memory.write('long-term', 'note', 'other', { overwrite: false })).rejects.toThrow()
    const record = await memory.read('long-term', 'note', { includeMetadata: true })
    expect(record?.metadata.accessCount).toBe(2)
    await memory.close()
  })
})
