import { readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFileStore } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { openJournal } from '../src/archiving/import-journal.ts'
import { createShell, type Shell, temporaryFolder, writeFiles } from './support.ts'

it('takes a note with a word before a colon whole', async () => {
  const shell = createShell()
  const folder = temporaryFolder()
  writeFiles(folder, { 'car.md': '# Car\n\nBought from the walrus.\n\nModel: Tesla 3\n' })
  expect(await shell.json('import', folder)).toMatchObject({ archived: 0, memories: 1 })
  expect((await shell.run('search', 'walrus')).code).toBe(0)
})

it('takes memories with tags and types that no memory takes as they are', async () => {
  const shell = createShell()
  const folder = temporaryFolder()
  const tags = Array.from({ length: 300 }, (_, i) => `- #tag${i}`).join('\n')
  const name = `${'x'.repeat(79)}🙂`
  writeFiles(folder, {
    'tags.md': `---\ntype: "bell\\a ${'y'.repeat(300)}"\n---\n\n${tags}\n`,
    'graph.json': JSON.stringify({
      entities: [
        { name, entityType: 'bell\u0007', observations: ['Feeds the walrus.'] },
        { name: 'Ana', observations: ['Paints the ocelot.'] },
      ],
      relations: [],
    }),
  })
  expect(await shell.json('import', folder)).toMatchObject({ memories: 3, failed: [] })
  for (const word of ['tag299', 'walrus', 'ocelot']) expect((await shell.run('search', word)).code).toBe(0)
  // A tag that is too long ends with a whole character.
  expect((await shell.run('export')).out).not.toContain('\ufffd')
})

it('knows what was imported while another import was under way', async () => {
  const shell = createShell()
  const folder = temporaryFolder()
  writeFiles(folder, { 'todo.md': 'Feed the walrus.' })
  await shell.run('init')
  const store = await openFileStore({ root: shell.root })
  const other = openJournal(store)
  other.add('of another', 'import')
  expect(await shell.json('import', folder)).toMatchObject({ memories: 1 })
  other.save()
  await store.close()
  writeFiles(folder, { 'todo.md': 'Feed the walrus twice.' })
  expect(await shell.json('import', folder)).toMatchObject({ memories: 1, kept: 0 })
  expect(openJournal(store).has('of another', 'import')).toBe(true)
})

describe('a note', () => {
  /** The imported memories of a store. */
  async function kept({ run }: Shell) {
    const entries = (await run('export')).out.split('\n').filter((line) => line.includes('"import:'))
    return entries.map((line) => {
      const { key, value, tags, createdAt } = JSON.parse(line) as Record<string, string>
      return { key, value, tags, createdAt }
    })
  }

  it('of any folder is called markdown, and is of the time of its file', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    writeFiles(folder, { 'ideas/kite.md': 'Fly a kite.', 'ideas/tea.md': '---\ntags: [a\n---\nDrink tea.' })
    const time = new Date('2025-04-05T06:07:08Z')
    for (const name of ['kite', 'tea']) utimesSync(join(folder, `ideas/${name}.md`), time, time)
    const { out } = await shell.run('import', folder)
    expect(out).toContain('passed over: 1 × unreadable front matter, kept as text\n')
    const [kite] = (await kept(shell)).filter(({ value }) => value?.includes('kite'))
    expect(kite).toEqual({
      key: expect.stringMatching(/^import:markdown:/),
      value: '# kite\n\nFly a kite.\n\nImported from markdown (ideas/kite).',
      tags: ['from:markdown'],
      createdAt: expect.anything(),
    })
    expect(new Date(kite?.createdAt ?? '')).toEqual(time)
  })

  it('stays one memory when an edit makes it look like one of basic-memory, and back', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    for (const text of ['Fly a kite.', '- [idea] Fly a kite.', 'Fly a red kite.']) {
      writeFiles(folder, { 'kite.md': text })
      expect(await shell.json('import', folder)).toMatchObject({ memories: 1, kept: 0 })
      expect(await kept(shell)).toHaveLength(1)
    }
  })
})

describe('notes with the same name', () => {
  const found = async (shell: Shell, ...words: string[]): Promise<boolean[]> =>
    Promise.all(words.map(async (word) => (await shell.run('search', word)).code === 0))

  it('keeps those of each folder, and changes nothing when it is done again', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    writeFiles(folder, {
      'a/todo.md': 'Feed the walrus.',
      'b/todo.md': 'Paint the ocelot.',
      'b/one.md': '---\npermalink: same\n---\nTame the lynx.',
      'b/two.md': '---\npermalink: same\n---\nName the narwhal.',
    })
    const [a, b] = [join(folder, 'a'), join(folder, 'b')]
    const all = ['walrus', 'ocelot', 'lynx', 'narwhal']
    expect(await shell.json('import', a, b)).toMatchObject({ memories: 4 })
    expect(await found(shell, ...all)).toEqual([true, true, true, true])

    const touch = (name: string) => writeFileSync(name, `${readFileSync(name, 'utf8')}\n`)
    for (const name of ['a/todo.md', 'b/todo.md', 'b/one.md', 'b/two.md']) touch(join(folder, name))
    expect(await shell.json('import', b, join(a, 'todo.md'))).toMatchObject({
      memories: 0,
      unchanged: 4,
    })
    writeFiles(folder, { 'b/todo.md': 'Paint the ocelot blue.' })
    expect(await shell.json('import', a, b)).toMatchObject({ memories: 1, kept: 0 })
    expect(await found(shell, ...all, 'blue')).toEqual([true, true, true, true, true])
    expect((await shell.run('export')).out.trim().split('\n')).toHaveLength(4)

    // A lost journal is made again of what is still the same.
    rmSync(join(shell.root, 'memory/.recall/imports.json'))
    expect(await shell.json('import', b, a)).toMatchObject({ memories: 0, kept: 0, unchanged: 4 })
  })

  it('takes the notes of a folder that was moved for those that they were', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    writeFiles(folder, { 'a/todo.md': 'Feed the walrus.', 'a/old.md': 'Sell the ocelot.' })
    await shell.run('import', join(folder, 'a'))
    await shell.run('forget', '--containing', 'ocelot', '--yes')
    renameSync(join(folder, 'a'), join(folder, 'b'))
    expect(await shell.json('import', join(folder, 'b'))).toMatchObject({
      memories: 0,
      unchanged: 1,
      forgotten: 1,
    })
  })

  it('are told apart once a lost journal was made again', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    writeFiles(folder, { 'a/todo.md': 'Feed the walrus.', 'b/todo.md': 'Paint the ocelot.' })
    const [a, b] = [join(folder, 'a'), join(folder, 'b')]
    await shell.run('import', a)
    rmSync(join(shell.root, 'memory/.recall/imports.json'))
    expect(await shell.json('import', a)).toMatchObject({ memories: 0, unchanged: 1 })
    expect(await shell.json('import', b)).toMatchObject({ memories: 1, kept: 0 })
    writeFiles(folder, { 'a/todo.md': 'Feed the walrus fish.' })
    expect(await shell.json('import', a, b)).toMatchObject({ memories: 1, kept: 0 })
    expect(await found(shell, 'fish', 'ocelot')).toEqual([true, true])
    expect((await shell.run('export')).out.trim().split('\n')).toHaveLength(2)
  })
})
