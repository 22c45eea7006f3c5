import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { listingBackwards } from './support/listing-backwards.ts'
import { openWithArchives } from './support/open-with-archives.ts'
import { archiveOf } from './support/storm-values.ts'
import { whileReplacing } from './support/while-replacing.ts'

describe('the doctor, of merges and of what syncers leave', () => {
  it('names files with both sides of a merge, but for those that quote one', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const merges = () =>
      checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(({ check }) => check === 'merges')
    const merge = '<<<<<<< HEAD\r\nmine\r\n=======\r\nyours\r\n>>>>>>> 51fb131\r\n'
    const quoting = { ...archiveOf('s2', 2), body: `## Summary\n\nGit said:\n${merge}` }
    await memory.write('episodic', conversationKey('s2'), quoting, { type: conversationType })
    writeFileSync(at('git.md'), `## How it looks\n\n\`\`\`\n${merge}\`\`\`\n\nTitle\n=======\n`)
    expect(merges()).toMatchObject({ ok: true })
    appendFileSync(at('ARCHIVE.md'), merge)
    appendFileSync(at('EPHEMERAL.md'), merge)
    writeFileSync(at('torn.md'), Buffer.from([0xff]))
    writeFileSync(at('topic.md'), `## Deploys\n\n${merge}`)
    const before = readFileSync(at('topic.md'), 'utf8')
    expect(merges()?.problems?.toSorted()).toEqual(
      ['ARCHIVE.md', 'EPHEMERAL.md', 'topic.md'].map((name) => `memory/${name} holds both sides of a merge`),
    )
    expect(readFileSync(at('topic.md'), 'utf8')).toBe(before)
    await memory.close()
  })

  it('names a file as long as a mark of a merge is in it, also after a section on one side was written', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const message = () =>
      checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(({ check }) => check === 'merges')
        ?.message
    writeFileSync(at('topic.md'), '<<<<<<< HEAD\n## A\nmine\n=======\n## B\nyours\n>>>>>>> 51fb131\n')
    await memory.write('long-term', 'topic.md#a', 'new')
    expect(message()).toBe('memory/topic.md holds both sides of a merge')
    expect(await memory.read('long-term', 'topic.md#b')).toBe('yours')
    await memory.write('long-term', 'topic.md#b', 'new')
    await memory.delete('long-term', 'topic.md#a')
    expect(message()).toBe('memory/topic.md holds both sides of a merge')
    writeFileSync(at('topic.md'), '## B\n\nyours\n>>>>>>> 51fb131\n')
    expect(message()).toBe('memory/topic.md holds a mark of an unfinished merge')
    await memory.close()
  })

  it('makes one table of both sides of a merge', async () => {
    const { store, memory, at } = await openWithArchives(3)
    const table = readFileSync(at('ARCHIVE.md'), 'utf8')
    const [last = '', ...above] = table.trimEnd().split('\n').reverse()
    const mine = last.replace('| s3 |', '| s4 |')
    const sides = `<<<<<<< HEAD\n${mine}\n||||||| 1\n=======\n${last}\n>>>>>>> 51fb131\n`
    writeFileSync(at('ARCHIVE.md'), `${above.reverse().join('\n')}\n${sides}`)
    const bad = checkUp(defaultFileSystem, store, { deep: false, fix: true }).filter(
      ({ ok, fixed }) => !ok || fixed,
    )
    expect(bad).toMatchObject([
      {
        fixed: true,
        check: 'archive table',
        problems: ['memory/ARCHIVE.md holds both sides of a merge', 'archive 3 has several rows'],
      },
    ])
    expect(readFileSync(at('ARCHIVE.md'), 'utf8')).toBe(table)
    await memory.close()
  })

  it('names notes and archives with both sides of a merge', async () => {
    const { store, memory, at } = await openWithArchives(1)
    const merges = () =>
      checkUp(defaultFileSystem, store, { deep: false, fix: true }).find(({ check }) => check === 'merges')
    mkdirSync(at('long-term'), { recursive: true })
    const merge = '<<<<<<< HEAD\ntags: ["a"]\n=======\ntags: ["b"]\n>>>>>>> 51fb131\n'
    writeFileSync(at('long-term/note.md'), `---\n${merge}---\ntext\n`)
    writeFileSync(at('conversations/conversation-002.md'), `---\nsession_id: "t"\n${merge}---\ntext\n`)
    expect(merges()).toMatchObject({
      ok: false,
      problems: [
        'memory/long-term/note.md holds both sides of a merge',
        'memory/conversations/conversation-002.md holds both sides of a merge',
      ],
      remedy: expect.stringContaining('each side of an archive becomes a file of its own'),
    })
    await memory.close()
  })

  it.each([
    { mineEnds: '\n', theirsEnds: '\n' },
    { mineEnds: '\r\n', theirsEnds: '\r\n' },
    { mineEnds: '\n', theirsEnds: '\r\n' },
  ])('gives each of two archives a file that a merge left in one: %j', async ({ mineEnds, theirsEnds }) => {
    const { store, memory, at } = await openWithArchives(3)
    const archive = (n: number, end: string): string =>
      readFileSync(at(`conversations/conversation-00${n}.md`), 'utf8').replaceAll('\n', end)
    const [mine, theirs] = [archive(1, mineEnds), archive(3, theirsEnds)]
    rmSync(at('conversations/conversation-003.md'))
    const common = mineEnds === theirsEnds ? `---${mineEnds}` : ''
    const sides = [mine, theirs].map((side) => side.slice(common.length))
    const marks = ['<<<<<<< HEAD', '=======', '>>>>>>> 51fb131'].map((mark) => `${mark}${mineEnds}`)
    const merged = `${common}${marks[0]}${sides[0]}${marks[1]}${sides[1]}${marks[2]}`
    writeFileSync(at('conversations/conversation-001.md'), merged)
    const look = (fix: boolean) => checkUp(defaultFileSystem, store, { deep: false, fix })
    expect(look(false).filter(({ check }) => /^merge|^files/.test(check))).toMatchObject([
      { check: 'merges', ok: true },
      {
        check: 'merged archives',
        ok: false,
        message: 'memory/conversations/conversation-001.md holds two archives, the sides of a merge',
      },
      { check: 'files', ok: true },
    ])
    look(true)
    expect(readFileSync(at('conversations/conversation-001.md'), 'utf8')).toBe(mine)
    expect(readFileSync(at('conversations/conversation-003.md'), 'utf8')).toBe(theirs)
    expect(look(false).filter(({ ok }) => !ok)).toEqual([])
    for (const id of ['s1', 's2', 's3'])
      expect(await memory.read('episodic', `conversation:${id}`)).toMatchObject({ sessionId: id })
    await memory.close()
  })

  it('leaves a merge of two archives to a person who has changed one of them', async () => {
    const { store, memory, at } = await openWithArchives(2)
    const one = at('conversations/conversation-001.md')
    const [mine, theirs] = [1, 2].map((n) => readFileSync(at(`conversations/conversation-00${n}.md`), 'utf8'))
    const merged = `<<<<<<< HEAD\n${mine}By hand.\n=======\n${theirs}>>>>>>> 51fb131\n`
    writeFileSync(one, merged)
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: true })
    expect(findings.find(({ check }) => check === 'merges')).toMatchObject({
      ok: false,
      message: 'memory/conversations/conversation-001.md holds both sides of a merge',
    })
    expect(readFileSync(one, 'utf8')).toBe(merged)
    await memory.close()
  })

  it('keeps what a person saves into a merged archive while its sides are taken apart', async () => {
    const { store, memory, at } = await openWithArchives(2)
    const [one, two] = [1, 2].map((n) => at(`conversations/conversation-00${n}.md`)) as [string, string]
    const [mine, theirs] = [one, two].map((path) => readFileSync(path, 'utf8'))
    rmSync(two)
    writeFileSync(one, `<<<<<<< HEAD\n${mine}=======\n${theirs}>>>>>>> 51fb131\n`)
    const fileSystem = whileReplacing(() => appendFileSync(one, 'By hand.\n'))
    checkUp(fileSystem, store, { deep: false, fix: true })
    expect(readFileSync(one, 'utf8')).toContain('By hand.')
    await memory.close()
  })

  it('names the second versions of files that a syncer left', async () => {
    const { store, memory, root, at } = await openWithArchives(1)
    mkdirSync(at('long-term'), { recursive: true })
    const ofSyncthing = '.sync-conflict-20261127-101010-ABCDEFG.md'
    for (const name of [
      `EPHEMERAL${ofSyncthing}`,
      "MEMORY (Ada's Conflicted Copy 2026-11-27).md",
      'conflicts.md',
    ])
      writeFileSync(at(name), 'text')
    writeFileSync(at('long-term', `pref${ofSyncthing}`), 'text')
    writeFileSync(join(root, 'TODO (conflict).md'), 'not of the memory')
    const copies = checkUp(listingBackwards, store, { deep: false, fix: true }).find(
      ({ check }) => check === 'copies',
    )
    expect(copies).toMatchObject({
      ok: false,
      problems: [
        `memory/EPHEMERAL${ofSyncthing} is another version of memory/EPHEMERAL.md`,
        "memory/MEMORY (Ada's Conflicted Copy 2026-11-27).md is another version of memory/MEMORY.md",
        `memory/long-term/pref${ofSyncthing} is another version of memory/long-term/pref.md`,
      ],
    })
    await memory.close()
  })
})
