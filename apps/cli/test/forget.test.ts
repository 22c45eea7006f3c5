import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFileMemory, openFileStore } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { createShell, filesBelow, shellWithSession, writeFiles } from './support.ts'

describe('forget', () => {
  it('asks what to forget where nothing is named', async () => {
    const shell = await shellWithSession()
    expect(await shell.run('forget', '--yes')).toMatchObject({
      code: 2,
      err: 'recall: say which key to forget, or --containing <text>\n',
    })
  })

  it('takes the beginning of a key for none, and says so', async () => {
    const shell = await shellWithSession()
    expect(await shell.run('forget', 'conversation:pool')).toMatchObject({
      code: 1,
      out: "Nothing to forget. A key is named whole, as 'recall search --json' shows it.\n",
    })
  })

  it('takes what is there of several keys, and says which are not', async () => {
    const shell = await shellWithSession()
    const keys = ['conversation:pool-leak', 'nowhere', 'conversation:other']
    expect(await shell.run('forget', ...keys)).toMatchObject({
      code: 1,
      out: expect.stringContaining('forget 2 memories'),
      err: 'recall: nothing is kept under nowhere\nrecall: nothing is kept under conversation:other\n',
    })
    expect(await shell.json('forget', ...keys, '--yes')).toMatchObject({
      forgotten: true,
      missing: ['nowhere', 'conversation:other'],
    })
  })

  it('shows first, then removes the archive, its row and its entry in the window, and keeps it forgotten', async () => {
    const shell = await shellWithSession()
    const shown = await shell.json<{ forgotten: boolean; memories: unknown[] }>(
      'forget',
      'conversation:pool-leak',
    )
    expect(shown).toMatchObject({
      forgotten: false,
      memories: [
        { scope: 'episodic', key: 'conversation:pool-leak' },
        { scope: 'short-term', key: 'session:pool-leak' },
      ],
    })
    expect((await shell.run('search', 'retry path')).code).toBe(0)
    const { out } = await shell.run('forget', 'conversation:pool-leak', '--yes')
    expect(out).toMatch(/receipt [0-9a-f]{16}/)
    expect((await shell.run('search', 'retry path')).code).toBe(1)
    expect(readFileSync(join(shell.root, 'memory/ARCHIVE.md'), 'utf8')).not.toContain('pool-leak')
    expect(existsSync(join(shell.root, 'memory/conversations/conversation-001.md'))).toBe(false)
    const again = await shell.run('archive', shell.path)
    expect(again.code).toBe(3)
    expect(again.err).toContain('was forgotten')
    expect(await shell.json('import', shell.path)).toMatchObject({ archived: 0, forgotten: 1, failed: [] })
  })

  it('shows the first of many memories and how many more there are', async () => {
    const shell = createShell()
    await shell.run('init')
    for (let i = 0; i < 45; i++)
      writeFiles(shell.root, { [`memory/long-term/note-${i}.md`]: 'the pool leaks\n' })
    const { out } = await shell.run('forget', '--containing', 'pool')
    expect(out).toContain('and 25 more memories, all of which --json prints\n')
    expect(out).toContain('Run the same with --yes to forget 45 memories.')
    expect(out.split('\n').length).toBeLessThan(30)
    const { memories } = await shell.json<{ memories: unknown[] }>('forget', '--containing', 'pool')
    expect(memories).toHaveLength(45)
  })

  it('finds memories by what they contain', async () => {
    const shell = await shellWithSession()
    expect(await shell.json('forget', '--containing', 'never releases it')).toMatchObject({
      memories: [{ key: 'conversation:pool-leak' }, { key: 'session:pool-leak' }],
    })
    expect((await shell.run('forget', '--containing', 'zeppelin')).code).toBe(1)
  })

  it('says that of an echo only the copy goes', async () => {
    const shell = await shellWithSession()
    await shell.run('echoes', 'add', 'reviewer', 'Zebras', '--learning', 'a zebra', '--evidence', 'a.ts:1')
    const report = await shell.json<{ echoes: string[] }>('forget', '--containing', 'a zebra')
    expect(report.echoes).toHaveLength(1)
    const { out } = await shell.run('forget', '--containing', 'a zebra', '--yes')
    expect(out).toContain('1 memory forgotten')
    expect(out).toContain("makes again in its project with the next change, 'surface' or 'doctor'.")
    const isThere = async () => (await shell.run('search', 'a zebra')).code === 0
    await shell.run('echoes', 'show')
    expect(await isThere()).toBe(false)
    await shell.run('echoes', 'doctor')
    expect(await isThere()).toBe(true)
    expect(out).toContain(
      `Remove ${report.echoes[0]} there, with 'recall echoes remove <entry> --yes', then delete`,
    )
    expect(await shell.json('forget', '--containing', 'never releases it')).not.toHaveProperty('echoes')
    // What is said to be done ends it.
    await shell.run('echoes', 'remove', String(report.echoes[0]), '--yes')
    expect((await shell.run('forget', '--containing', 'a zebra')).code).toBe(1)
  })

  it('takes of sections with the same heading those that it showed, and no other', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/MEMORY.md')
    const texts = ['zebra', ...Array.from({ length: 7 }, (_, i) => `innocent ${i}`), 'zebra', 'zebra', 'last']
    writeFileSync(path, `# Memory\n${texts.map((text) => `\n## Notes\n\n${text}\n`).join('')}`)
    expect((await shell.run('forget', '--containing', 'zebra', '--yes')).out).toContain(
      '3 memories forgotten',
    )
    const left = texts.filter((text) => text !== 'zebra')
    expect(readFileSync(path, 'utf8')).toBe(
      `# Memory\n${left.map((text) => `\n## Notes\n\n${text}\n`).join('')}`,
    )
  })

  it('rebuilds the index when it was interrupted before it could', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFiles(shell.root, { 'memory/long-term/note.md': 'the zeppelin1zeppelin lands\n' })
    expect((await shell.run('search', 'zeppelin1zeppelin')).code).toBe(0)
    const store = await openFileStore({ root: shell.root })
    store.beginErasure()
    await store.remove({ scope: 'long-term', namespace: 'default', key: 'note' })
    await store.close()
    const erasing = join(shell.root, 'memory/.recall/erasing')
    const { pid } = spawnSync(process.execPath, ['-e', ''])
    for (const name of readdirSync(erasing))
      renameSync(join(erasing, name), join(erasing, name.replace(/^\d+/, String(pid))))
    const shown = (await shell.run('doctor')).out
    expect(shown).toContain('it may still hold text that was forgotten')
    expect(shown).toContain("run 'recall reindex --full'")
    expect(await shell.json('forget', 'note', '--yes')).toMatchObject({ forgotten: false, memories: [] })
    const left = filesBelow(shell.root).filter((path) => readFileSync(path).includes('zeppelin1zeppelin'))
    expect(left).toEqual([])
    expect((await shell.run('doctor')).code).toBe(0)
  })

  it('knows forgotten sections by their text when those behind them get their keys', async () => {
    const shell = createShell()
    await shell.run('init')
    const path = join(shell.root, 'memory/MEMORY.md')
    const exported = async (name: string): Promise<string> => {
      const file = join(shell.root, name)
      writeFileSync(file, (await shell.run('export')).out)
      return file
    }
    writeFileSync(
      path,
      '## People\n\nanna postgres://app:hunter2@db/x\n\n## People\n\nbob\n\n## People\n\ncarla\n',
    )
    const before = await exported('before.jsonl')
    await shell.run('forget', 'MEMORY.md#people', '--yes')
    const after = await exported('after.jsonl')
    writeFileSync(path, '')
    expect(await shell.json('import', after)).toMatchObject({ entries: 2, forgotten: 0 })
    expect(readFileSync(path, 'utf8')).toMatch(/bob[\s\S]+carla/)
    writeFileSync(path, '')
    expect(await shell.json('import', before)).toMatchObject({ entries: 2, forgotten: 1 })
    writeFileSync(path, '## People\n\nbob\n')
    // The text of bob stood under the second key when it was exported, and under the first when it was forgotten.
    await shell.run('forget', 'MEMORY.md#people', '--yes')
    writeFileSync(path, '')
    const copy = join(shell.root, 'copy.jsonl')
    copyFileSync(before, copy)
    expect(await shell.json('import', copy)).toMatchObject({ entries: 1, forgotten: 2 })
    expect(readFileSync(path, 'utf8')).not.toMatch(/anna|bob/)
  })

  it('finds a text also in headings, keys, tags, names of members and numbers', async () => {
    const shell = await shellWithSession()
    const path = join(shell.root, 'memory/MEMORY.md')
    writeFileSync(path, '# Memory\n\n## Ana Miller\n\nLikes tabs.\n\n## Notes\n\nkept\n')
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('long-term', 'about Ana Miller', 'x')
    await memory.write('long-term', 'tagged', 'x', { tags: ['Ana Miller'] })
    await memory.write('long-term', 'member', { 'Ana Miller': 1 })
    await memory.write('long-term', 'number', { phone: 491700012345 })
    await memory.write('long-term', 'typed', 'x', { type: 'of Ana Miller' })
    await memory.close()
    const forget = (text: string) =>
      shell.json<{ memories: { key: string }[] }>('forget', '--containing', text, '--yes')
    const { memories } = await forget('Ana Miller')
    expect(memories.map(({ key }) => key).sort()).toEqual([
      'MEMORY.md#ana-miller',
      'about Ana Miller',
      'member',
      'tagged',
      'typed',
    ])
    expect((await forget('491700012345')).memories).toMatchObject([{ key: 'number' }])
    expect(readFileSync(path, 'utf8')).toBe('# Memory\n\n## Notes\n\nkept\n')
  })

  it('takes nothing of another scope with what contains a text', async () => {
    const shell = await shellWithSession()
    const asked = ['--containing', 'pool', '--scope', 'episodic']
    expect((await shell.json<{ memories: unknown[] }>('forget', ...asked)).memories).toMatchObject([
      { scope: 'episodic', key: 'conversation:pool-leak' },
    ])
  })

  it('finds a text in what was said, and not in how it is written down', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('long-term', 'rows', { list: ['one\ntwo', null, true], size: 2.5 })
    await memory.write('long-term', 'said', 'she said "null, or [nothing]"')
    await memory.close()
    const found = async (text: string) => {
      const options = ['--containing', text, '--scope', 'long-term']
      const { memories } = await shell.json<{ memories: { key: string }[] }>('forget', ...options)
      return memories.map(({ key }) => key)
    }
    for (const text of ['","', '["', '{', '\\n', 'true']) expect(await found(text), text).toEqual([])
    expect(await found('null')).toEqual(['said'])
    expect(await found('said "null')).toEqual(['said'])
    expect(await found('one\ntwo')).toEqual(['rows'])
    expect(await found('2.5')).toEqual(['rows'])
  })

  it('needs no key for what is encrypted, and takes what has expired', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root, encryptionKey: new Uint8Array(32) })
    await memory.write('long-term', 'sealed', 'a quokka', { encrypt: true })
    await memory.write('long-term', 'plain', 'another quokka')
    await memory.close()
    const early = await openFileMemory({ root: shell.root, clock: () => Date.now() - 10_000 })
    await early.write('long-term', 'over', 'an old quokka', { ttl: 1 })
    await early.close()
    const { out } = await shell.run('export', '--scope', 'long-term')
    expect(out).toContain('"encrypted":true')
    expect(await shell.json('forget', '--containing', 'quokka', '--yes')).toMatchObject({
      memories: [{ key: 'over' }, { key: 'plain' }],
    })
    // Its envelope says such words of every encrypted memory.
    for (const word of ['aes-256-gcm', 'default'])
      expect(await shell.run('forget', '--containing', word, '--json')).toMatchObject({
        code: 1,
        out: expect.stringContaining('"memories":[]'),
        err: 'recall: 1 memory is encrypted and cannot be searched: forget such by their keys\n',
      })
    expect(await shell.json('forget', 'sealed', '--yes')).toMatchObject({ memories: [{ key: 'sealed' }] })
    expect(filesBelow(shell.root).filter((file) => file.includes('/long-term/'))).toEqual([])
  })

  it('takes what is archived, and leaves no word of it in the index', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('episodic', 'old', 'the quokka escaped')
    await memory.write('episodic', 'older', 'by its key')
    await memory.close()
    const later = await openFileMemory({ root: shell.root, clock: () => Date.now() + 100 * 24 * 3600_000 })
    await later.cleanup({ scope: 'episodic' })
    expect(await later.exists('episodic', 'old')).toBe(false)
    await later.write('long-term', 'new', 'another quokka')
    await later.close()
    await shell.run('search', 'quokka')
    expect(await shell.json('forget', '--containing', 'quokka', '--yes')).toMatchObject({
      memories: [
        { scope: 'long-term', key: 'new' },
        { scope: 'episodic', key: 'old' },
      ],
    })
    expect(await shell.json('forget', '--containing', 'quokka')).toMatchObject({ memories: [] })
    expect(await shell.json('forget', 'older', '--yes')).toMatchObject({ memories: [{ key: 'older' }] })
    expect(await shell.json('forget', 'older')).toMatchObject({ memories: [] })
    const bytes = filesBelow(shell.root).map((path) => readFileSync(path, 'latin1'))
    expect(bytes.some((text) => text.includes('quokka'))).toBe(false)
  })

  it('leaves no trace of a key that was read and counted, also beside a process that goes on', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('long-term', 'about the quokka', 'it escaped')
    await memory.search('long-term', { text: 'escaped' })
    await memory.read('long-term', 'about the quokka')
    await shell.run('forget', 'about the quokka', '--yes')
    const holding = filesBelow(shell.root).filter((path) => readFileSync(path, 'latin1').includes('quokka'))
    expect(holding).toEqual([])
    await memory.close()
  })

  it('looks into namespaces of which all is archived', async () => {
    const shell = await shellWithSession()
    let now = Date.now()
    const others = await openFileMemory({ root: shell.root, namespace: 'Ana Müller', clock: () => now })
    await others.write('episodic', 'old', 'the quokka escaped')
    now += 100 * 24 * 3600_000
    await others.cleanup({ scope: 'episodic' })
    await others.close()
    expect((await shell.run('export')).out).toContain('the quokka escaped')
    expect(await shell.json('forget', '--containing', 'quokka', '--yes')).toMatchObject({
      memories: [{ scope: 'episodic', key: 'old', namespace: 'Ana Müller' }],
    })
    expect((await shell.run('export')).out).not.toContain('quokka')
  })
})
