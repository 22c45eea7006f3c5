import { appendFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { appendEntries, emptyEchoes, openEchoes, printEchoes } from '../src/index.ts'
import { entryOf } from './support.ts'

async function open(lineLimit = 150) {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  return { root, echoes: openEchoes({ root, lead: true, policy: { lineLimit } }) }
}

it('tells what a person should know, and removes what killed processes left', async () => {
  const { root, echoes } = await open(5)
  await echoes.add('reviewer', entryOf())
  await writeFile(join(root, 'reviewer/.tmp-99-abc'), 'half')
  await writeFile(join(root, 'reviewer/notes.txt'), 'mine')
  await writeFile(join(root, 'a-file'), 'mine')
  const messages = async (fix: boolean) =>
    (await echoes.examine({ fix })).map(({ ok, message }) => `${ok} ${message}`)
  expect(await messages(false)).toEqual([
    'true 1 entry in 11 lines',
    'false the memory is above its 5 lines',
    'false reviewer/.tmp-99-abc was left by a process that was killed',
  ])
  await echoes.examine({ fix: true })
  expect((await readdir(join(root, 'reviewer'))).sort()).toEqual(['.echoes.json', 'MEMORY.md', 'notes.txt'])
})

it('names what was verified on a day that has not come, but for one of another zone', async () => {
  const { root } = await open()
  const echoes = openEchoes({ root, clock: () => Date.parse('2026-06-30T23:00:00Z') })
  for (const verified of ['2026-06-30', '2026-07-01', '2026-07-02', '2099-01-01'])
    await echoes.add('reviewer', entryOf({ title: verified, verified }))
  expect((await echoes.examine()).filter(({ ok }) => !ok)).toMatchObject([
    { message: 'inscribed-003 says that it was verified on 2026-07-02, which has not come yet' },
    { message: 'inscribed-004 says that it was verified on 2099-01-01, which has not come yet' },
  ])
})

it('tells which workflow keeps it from pruning, and which entry, notes and findings it cannot read', async () => {
  const { root, echoes } = await open()
  await echoes.add('reviewer', entryOf())
  await appendFile(join(root, 'reviewer/MEMORY.md'), '\n### [2026-13-01] Bad\n')
  await mkdir(join(root, 'reviewer/knowledge.md'))
  await symlink(join(root, 'elsewhere.md'), join(root, 'reviewer/ann-findings.md'))
  await echoes.beginWorkflow('review-1')
  const message = (text: string) => expect.stringContaining(text)
  expect((await echoes.examine()).filter(({ ok, role }) => !ok || role === null)).toEqual([
    {
      role: 'reviewer',
      ok: false,
      message: message('reviewer/MEMORY.md, line 13 is not an entry: the date'),
      remedy: 'mend it by hand',
    },
    {
      role: 'reviewer',
      ok: false,
      message: message('knowledge.md cannot be read'),
      remedy: message('until then it is not compressed'),
    },
    {
      role: 'reviewer',
      ok: false,
      message: message('ann-findings.md is a link'),
      remedy: message('until then its findings are not consolidated'),
    },
    { role: null, ok: true, message: 'the workflow review-1 is active: nothing is pruned before it ends' },
  ])
})

it('tells of notes above their 300 lines, and whether pruning helps', async () => {
  const { root, echoes } = await open()
  await echoes.add('reviewer', entryOf())
  const wrong = async (notes: string) => {
    await writeFile(join(root, 'reviewer/knowledge.md'), notes)
    return (await echoes.examine()).filter(({ ok }) => !ok).map(({ message, remedy }) => [message, remedy])
  }
  const tooLong = 'knowledge.md is above its 300 lines'
  expect(await wrong('A note.\n'.repeat(300))).toEqual([])
  expect(await wrong('A note.\n'.repeat(301))).toEqual([
    [tooLong, 'shorten it by hand: it has no entries that prune could shorten'],
  ])
  const entries = printEchoes(appendEntries(emptyEchoes('reviewer'), Array(40).fill(entryOf())))
  expect(await wrong(entries)).toEqual([[tooLong, 'look at the plan of prune']])
})

it('finds nothing wrong with a memory of as many lines as it may have', async () => {
  const { echoes } = await open(11)
  await echoes.add('reviewer', entryOf())
  expect((await echoes.examine()).map(({ ok }) => ok)).toEqual([true])
})
