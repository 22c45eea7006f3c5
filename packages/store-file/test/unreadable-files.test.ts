import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType } from '@recall/core'
import { describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { failure, keysOf, open } from './support/memory-in-files.ts'
import { isPosix } from './support/platform.ts'
import { archiveOf } from './support/storm-values.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

/** A file that cannot be opened, for a reason that may pass. */
const unreadable = (name: string, isBroken: () => boolean = () => true): FileSystem => ({
  ...defaultFileSystem,
  openSync(path, flags, mode) {
    if (isBroken() && String(path).endsWith(name))
      throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
    return defaultFileSystem.openSync(path, flags, mode)
  },
})

describe('a file that cannot be read', () => {
  it('hides no other memory, is reported, is an error by key and is never rewritten', async () => {
    const { root, memory, at } = await open()
    await memory.write('long-term', 'good', 'the harbour')
    const bytes = Buffer.from([0x68, 0xff, 0xfe, 0x61])
    writeFileSync(at('long-term/bad.md'), bytes)
    const elsewhere = join(temporaryRoot(), 'note.md')
    writeFileSync(elsewhere, 'the harbour')
    symlinkSync(elsewhere, at('long-term/link.md'))
    expect(await keysOf(memory, 'harbour')).toEqual(['good'])
    expect(await failure(memory.read('long-term', 'bad'), 'MEMORY_CORRUPTION')).toContain('bad.md')
    await failure(memory.read('long-term', 'link'), 'MEMORY_FORBIDDEN')
    await failure(memory.write('long-term', 'bad', 'new'), 'MEMORY_CORRUPTION')
    await failure(memory.write('long-term', 'link', 'new'), 'MEMORY_FORBIDDEN')
    expect(readFileSync(at('long-term/bad.md'))).toEqual(bytes)
    const store = await openFileStore({ root })
    const files = checkUp(defaultFileSystem, store, { deep: true, fix: false }).find(
      ({ check }) => check === 'files',
    )
    expect(files?.message).toContain('bad.md')
    expect(files?.message).toContain('link.md')
    await store.close()
    writeFileSync(at('MEMORY.md'), bytes)
    await failure(memory.write('long-term', 'MEMORY.md#people', 'Ada'), 'MEMORY_CORRUPTION')
    expect(readFileSync(at('MEMORY.md'))).toEqual(bytes)
    await memory.close()
  })

  it('because a merge left both sides in its front matter is not taken for absent, and says why', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'project:deploys', 'the harbour')
    const [name = ''] = readdirSync(at('long-term'))
    const path = at(`long-term/${name}`)
    const merged = readFileSync(path, 'utf8').replace('updated:', '<<<<<<< HEAD\nupdated:')
    writeFileSync(path, merged)
    for (const call of [
      memory.read('long-term', 'project:deploys'),
      memory.write('long-term', 'project:deploys', 'new'),
      memory.delete('long-term', 'project:deploys'),
    ]) {
      const message = await failure(call, 'MEMORY_CORRUPTION')
      expect(message).toMatch(/deploys.* \(front matter is not YAML: .*\): mend that, or rename the file/)
    }
    expect(await keysOf(memory, 'harbour')).toEqual([name.replace('.md', '')])
    expect(readFileSync(path, 'utf8')).toBe(merged)
    await memory.close()
  })

  it('because a merge is unfinished in its front matter is no value of its own', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'plain', { a: 1 }, { tags: ['t'] })
    await memory.write('long-term', 'other', { b: 2 })
    const path = at('long-term/plain.md')
    const sides = '<<<<<<< HEAD\ntags: ["t"]\n=======\ntags: ["u"]\n>>>>>>> theirs\n'
    writeFileSync(path, readFileSync(path, 'utf8').replace('tags: ["t"]\n', sides))
    for (const call of [
      memory.read('long-term', 'plain'),
      memory.batchRead('long-term', ['other', 'plain']),
      memory.exists('long-term', 'plain'),
    ])
      expect(await failure(call, 'MEMORY_CORRUPTION')).toMatch(/plain\.md .*not YAML.*: mend that/)
    await memory.delete('long-term', 'plain')
    expect(await memory.read('long-term', 'plain')).toBe(null)
    await memory.close()
  })

  it('is a text where rules stand in it', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'other', 'x')
    for (const text of ['---\n\nthe harbour', '---\nthe harbour\n---\nand the quay']) {
      writeFileSync(at('long-term/note.md'), `${text}\n`)
      expect(await memory.read('long-term', 'note')).toBe(text)
    }
    await memory.close()
  })

  it('because of its front matter is not written over, and can be deleted', async () => {
    const { memory, at } = await open()
    const path = at('long-term/note.md')
    await memory.write('long-term', 'note', 'the harbour')
    const mine = readFileSync(path, 'utf8').replace('updated:', 'aliases: [quay\nupdated:')
    writeFileSync(path, mine)
    for (const call of [
      () => memory.write('long-term', 'note', 'new'),
      () => memory.atomicUpdate('long-term', [{ operation: 'set', key: 'note', value: 'new' }]),
    ])
      expect(await failure(call(), 'MEMORY_CORRUPTION')).toMatch(/'note' would be lost .* on line 5\): mend/)
    expect(readFileSync(path, 'utf8')).toBe(mine)
    expect(await failure(memory.read('long-term', 'note'), 'MEMORY_CORRUPTION')).toContain('note.md')
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    await memory.delete('long-term', 'note')
    await memory.write('long-term', 'note', 'new')
    expect(await memory.read('long-term', 'note')).toBe('new')
    await memory.close()
  })

  it('because a folder stands in its place is no empty file', async () => {
    const { root, memory, at } = await open()
    await memory.write('short-term', 'note', 'the harbour')
    mkdirSync(at('EPHEMERAL.md'))
    const notices: string[] = []
    const other = await openFileMemory({ root, onNotice: (notice) => notices.push(notice) })
    expect((await other.search('short-term', { text: 'harbour' })).map(({ key }) => key)).toEqual(['note'])
    expect(notices.join()).toContain('not searched')
    const store = await openFileStore({ root })
    const place = { scope: 'short-term', namespace: 'default' } as const
    expect(store.notSearched(place).join()).toContain('EPHEMERAL.md')
    for (const elsewhere of [{ scope: 'long-term' } as const, { namespace: 'others' }])
      expect(store.notSearched({ ...place, ...elsewhere })).toEqual([])
    await store.close()
    expect(await failure(other.search('short-term', {}), 'MEMORY_UNAVAILABLE')).toContain('EPHEMERAL.md')
    rmdirSync(at('EPHEMERAL.md'))
    expect((await other.search('short-term', {})).map(({ key }) => key)).toEqual(['note'])
    await other.close()
    await memory.close()
  })

  it('fails no list of a scope or a namespace that it is not of', async () => {
    const { root, memory, at } = await open()
    await memory.write('long-term', 'trip', 'the harbour')
    mkdirSync(at('EPHEMERAL.md'))
    const notices: string[] = []
    const others = await openFileMemory({ root, namespace: 'others', onNotice: (text) => notices.push(text) })
    await others.write('short-term', 'note', 'the harbour')
    expect((await memory.search('long-term', {})).map(({ key }) => key)).toEqual(['trip'])
    expect((await others.search('short-term', {})).map(({ key }) => key)).toEqual(['note'])
    expect(notices).toEqual([])
    await others.close()
  })

  it('keeps nobody from clearing and archiving what it cannot hold', async () => {
    const { memory, at } = await open({ fileSystem: unreadable('bad.md') })
    await memory.write('working', 'step', 'the harbour')
    await memory.write('long-term', 'note', 'the harbour')
    writeFileSync(at('long-term/bad.md'), 'the lighthouse')
    await memory.clear('working')
    expect(await memory.read('working', 'step')).toBe(null)
    await failure(memory.clear('long-term'), 'MEMORY_UNAVAILABLE')
    expect(await memory.read('long-term', 'note')).toBe('the harbour')
  })

  it('because it is not UTF-8 is not passed over when all, or some, is cleared', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'the harbour', { tags: ['x'] })
    writeFileSync(at('long-term/old.md'), Buffer.from('---\ntags: [x]\n---\nthe caf\xe9', 'latin1'))
    for (const filter of [undefined, { tags: ['x'] }, { olderThan: Date.now() + 1000 }])
      expect(await failure(memory.clear('long-term', filter), 'MEMORY_UNAVAILABLE')).toContain('old.md')
    expect(await memory.read('long-term', 'note')).toBe('the harbour')
    rmSync(at('long-term/old.md'))
    await memory.clear('long-term')
    expect(await memory.read('long-term', 'note')).toBe(null)
  })

  it('because it is not UTF-8 keeps nobody from archiving the others', async () => {
    const { memory, at } = await open()
    await memory.write('episodic', 'note', 'the harbour')
    writeFileSync(at('episodic/old.md'), Buffer.from('the caf\xe9', 'latin1'))
    expect(await memory.cleanup({ archiveBefore: Date.now() + 1000 })).toMatchObject({
      archived: 1,
      errors: [],
    })
  })

  it.runIf(isPosix)('because it is a pipe is never waited for, and no empty file', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'note', 'the harbour')
    rmSync(at('long-term/note.md'))
    execFileSync('mkfifo', [at('long-term/note.md'), at('MEMORY.md')])
    const text = await failure(memory.read('long-term', 'note'), 'MEMORY_CORRUPTION')
    expect(text).toContain(`${at('long-term/note.md')} is not a file: move it away`)
    await failure(memory.write('long-term', 'note', 'new'), 'MEMORY_CORRUPTION')
    await failure(memory.write('long-term', 'MEMORY.md#new', 'new'), 'MEMORY_CORRUPTION')
    expect(await keysOf(memory, 'harbour')).toEqual([])
    await memory.close()
  })

  it('because it is larger than any memory is not read into it', async () => {
    const root = temporaryRoot()
    const fstatSync = ((descriptor: number) => {
      const stats = defaultFileSystem.fstatSync(descriptor)
      // As the file says that is told apart by its length.
      return stats.size === 11 ? Object.assign(stats, { size: 2 ** 28 + 1 }) : stats
    }) as FileSystem['fstatSync']
    const memory = await openFileMemory({ root, fileSystem: { ...defaultFileSystem, fstatSync } })
    await memory.write('long-term', 'small', 'the lighthouse')
    writeFileSync(join(root, 'memory/long-term/large.md'), 'the harbour')
    const text = await failure(memory.read('long-term', 'large'), 'MEMORY_CORRUPTION')
    expect(text).toContain('large.md is larger than')
    expect(await memory.read('long-term', 'small')).toBe('the lighthouse')
    await memory.close()
  })

  it('that nests JSON deeper than a memory takes is reported and disturbs nobody', async () => {
    const { root, memory, at } = await open()
    await memory.write('long-term', 'good', 'the harbour')
    const json = '['.repeat(60_000) + ']'.repeat(60_000)
    writeFileSync(at('long-term/deep.md'), `---\nformat: "json"\n---\n\`\`\`json\n${json}\n\`\`\`\n`)
    expect(await keysOf(memory, 'harbour')).toEqual(['good'])
    expect(await failure(memory.read('long-term', 'deep'), 'MEMORY_CORRUPTION')).toContain('deep.md')
    expect(await memory.cleanup()).toMatchObject({ errors: [] })
    const store = await openFileStore({ root })
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    expect(findings.find(({ check }) => check === 'files')?.message).toContain('deep.md')
    await store.close()
    await memory.close()
  })

  it.each(['cannot be opened', 'is not UTF-8'])(
    'an archive that %s keeps out no other session',
    async (why) => {
      let isBroken = false
      const { memory, at } = await open({ fileSystem: unreadable('conversation-001.md', () => isBroken) })
      const archive = (id: string, n: number) =>
        memory.write('episodic', conversationKey(id), archiveOf(id, n), { type: conversationType })
      await archive('s1', 1)
      const first = at('conversations/conversation-001.md')
      if (why === 'cannot be opened') isBroken = true
      else writeFileSync(first, Buffer.from([0x68, 0xff]))
      const before = readFileSync(first)
      await archive('s2', 2)
      expect(await memory.read('episodic', conversationKey('s2'))).toMatchObject({ messageCount: 2 })
      expect(readFileSync(at('conversations/conversation-002.md'), 'utf8')).toContain('s2')
      expect(readFileSync(first)).toEqual(before)
      await memory.close()
    },
  )

  it('an archive that cannot be opened is taken for none of a session that it may hold', async () => {
    let isBroken = false
    const { memory, at } = await open({ fileSystem: unreadable('conversation-001.md', () => isBroken) })
    const archive = (id: string, n: number, part?: number) =>
      memory.write('episodic', conversationKey(id, part), archiveOf(id, n), { type: conversationType })
    await archive('s1', 1)
    isBroken = true
    for (const call of [archive('s1', 2), archive('s1', 2, 2)])
      expect(await failure(call, 'MEMORY_UNAVAILABLE')).toContain('conversation-001.md')
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const row = table.split('\n').find((line) => line.includes('s1')) as string
    for (const unclear of ['', row.replace('s1', 'conversation-001'), `${row}\n${row.replace('s1', 's9')}`]) {
      writeFileSync(at('ARCHIVE.md'), table.replace(row, unclear))
      expect(await failure(archive('s2', 2), 'MEMORY_UNAVAILABLE')).toContain('conversation-001.md')
    }
    expect(readdirSync(at('conversations'))).toEqual(['conversation-001.md'])
    isBroken = false
    await archive('s2', 2)
    await memory.close()
  })

  it('for a reason that passes is found again by itself', async () => {
    let broken = true
    const { memory, at } = await open({ fileSystem: unreadable('note.md', () => broken) })
    mkdirSync(at('long-term'), { recursive: true })
    writeFileSync(at('long-term/note.md'), 'the harbour')
    expect(await keysOf(memory, 'harbour')).toEqual([])
    await failure(memory.clear('long-term'), 'MEMORY_UNAVAILABLE')
    broken = false
    expect(await keysOf(memory, 'harbour')).toEqual(['note'])
    await memory.close()
  })
})
