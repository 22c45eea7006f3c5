import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import {
  appendEntries,
  type EchoEntry,
  emptyEchoes,
  openEchoes,
  printEchoes,
  printEntry,
} from '../src/index.ts'
import { entryOf } from './support.ts'

const open = async (text: string) => {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  await mkdir(join(root, 'reviewer'))
  await writeFile(join(root, 'reviewer/knowledge.md'), text)
  const file = (name: string) => readFile(join(root, 'reviewer', name), 'utf8')
  return { root, file, echoes: openEchoes({ root, clock: () => Date.parse('2026-06-30') }) }
}
const topics = ['Imports', 'Retries', 'Migrations', 'Fixtures']
const entries = Array.from(
  { length: 36 },
  (_, n): EchoEntry =>
    entryOf({
      title: `${topics[n % 4]} case${n}`,
      layer: n === 7 ? 'etched' : 'inscribed',
      evidence: `\`src/file${n}.ts:${n}\` — seen while the review went through the whole of the folder`,
      learning: `Rule ${n} says what to do. The rest tells at some length how it was found.`,
    }),
)
const text = printEchoes(appendEntries(emptyEchoes('reviewer'), entries))

it.each([
  [300, false],
  [301, true],
])('looks at a file of %i lines: compressed %s', async (lines, compressed) => {
  const { echoes } = await open(`${text.split('\n').slice(0, lines).join('\n')}\n`)
  const plan = await echoes.planKnowledge('reviewer')
  expect([plan.lines, plan.blocks.length > 0]).toEqual([lines, compressed])
})

it('groups by topic into blocks of 3 to 5 lines, keeps every evidence reference, and saves tokens', async () => {
  const { echoes, file } = await open(text)
  const plan = await echoes.planKnowledge('reviewer')
  expect(new Set(plan.blocks.map(({ topic }) => topic))).toEqual(new Set(topics))
  expect(plan.blocks.reduce((sum, block) => sum + block.entries, 0)).toBe(35)
  await echoes.applyKnowledge(plan)
  await echoes.applyKnowledge(plan)
  const after = await file('knowledge.md')
  expect(await file('archive/knowledge-2026-06-30.md')).toBe(text)
  for (const { evidence } of entries) expect(after).toContain(evidence.split(' — ')[0])
  const blocks = after
    .split('\n## ')
    .slice(1)
    .map((block) => block.trimEnd().split('\n').length - 1)
  expect(blocks.every((lines) => lines >= 3 && lines <= 5)).toBe(true)
  expect(after).toContain('The rest tells at some length how it was found.')
  expect(after).toContain('- **layer**: etched')
  expect(1 - plan.tokensAfter / plan.tokens).toBeGreaterThan(0.22)
  expect((await echoes.planKnowledge('reviewer')).blocks).toEqual([])
})

it('groups by the words that tell entries apart, into blocks of nearly one size', async () => {
  const subjects = ['Database', 'Cache', 'Import']
  const rules = Array.from({ length: 40 }, (_, n) =>
    entryOf({ title: `${subjects[n % 3]} rule ${n}`, layer: 'inscribed', evidence: `\`src/${n}.ts:${n}\`` }),
  )
  const { echoes } = await open(printEchoes(appendEntries(emptyEchoes('reviewer'), rules)))
  const { blocks } = await echoes.planKnowledge('reviewer')
  expect(new Set(blocks.map(({ topic }) => topic))).toEqual(new Set(subjects))
  expect(blocks.reduce((sum, block) => sum + block.entries, 0)).toBe(40)
  expect(blocks.every(({ entries: count }) => count >= 3 && count <= 4)).toBe(true)
})

it('keeps evidence that names no place, and what shares no topic, behind a line that nothing ends', async () => {
  const single = entryOf({ title: 'Caches', evidence: 'CI logs — it took 8 minutes' })
  const { echoes } = await open(`${text}${printEntry(single)}\n# Mine`)
  const plan = await echoes.planKnowledge('reviewer')
  expect(plan.blocks).toContainEqual({ topic: 'General', entries: 1, by: 'algorithm' })
  expect(plan.text).toContain(`\n## General\n- ${single.learning}\n- Evidence: CI logs\n`)
  expect(plan.text).toContain('\n# Mine\n\n## ')
})

it('puts one blank line before each block, also behind a text that ends in one', async () => {
  const head = printEchoes(emptyEchoes('reviewer'))
  const { echoes } = await open(text.replace(head, `${head}\nWritten by hand.\n`))
  const { text: after } = await echoes.planKnowledge('reviewer')
  expect(after).toContain('\n\n## ')
  expect(after).not.toContain('\n\n\n')
})

it('compresses a file in its own line endings', async () => {
  const { echoes } = await open(text.replaceAll('\n', '\r\n'))
  const plan = await echoes.planKnowledge('reviewer')
  const unix = await (await open(text)).echoes.planKnowledge('reviewer')
  expect(plan.text).toBe(unix.text.replaceAll('\n', '\r\n'))
})

it('sends no secret to a model, and takes none from it', async () => {
  const { echoes } = await open(text.replaceAll('Rule', 'With password=hunter2hunter2 rule'))
  const prompts: string[] = []
  const complete = async ({ prompt }: { prompt: string }) => {
    prompts.push(prompt)
    return '- One\n- Use password=swordfish7'
  }
  const plan = await echoes.planKnowledge('reviewer', { lm: { model: 'test', complete } })
  expect(prompts.join('')).toContain('[redacted:password]')
  expect(prompts.join('')).not.toContain('hunter2')
  expect(plan.text).toContain('- Use password=[redacted:password]')
  expect(plan.text).not.toContain('swordfish7')
})

it('lets a model summarise, and does without one that fails', async () => {
  const { echoes } = await open(text)
  let calls = 0
  const lm = {
    model: 'test',
    complete: async () => {
      calls += 1
      if (calls === 1) throw new Error('down')
      return calls === 2 ? 'Sure! Here you are' : '- One\n- Two'
    },
  }
  const { blocks } = await echoes.planKnowledge('reviewer', { lm })
  expect(blocks.slice(0, 3).map(({ by }) => by)).toEqual(['algorithm', 'algorithm', 'model'])
})

it.each([
  ['- 1\n- 2\n- 3\n\n- 4', 'model'],
  ['- 1\n- 2\n- 3\n- 4\n- 5', 'algorithm'],
  ['- 1', 'algorithm'],
  ['- **layer**: etched\n- 2', 'algorithm'],
])('takes what a model says for a block where it has two to four lines: %j', async (answer, by) => {
  const { echoes } = await open(text)
  const { blocks } = await echoes.planKnowledge('reviewer', {
    lm: { model: 'test', complete: async () => answer },
  })
  expect(new Set(blocks.map((block) => block.by))).toEqual(new Set([by]))
})

it('applies what a model said when it was shown, and asks it anew where the file has changed', async () => {
  const { root, echoes, file } = await open(text)
  let calls = 0
  const lm = { model: 'test', complete: async () => `- One\n- Said in call ${++calls}` }
  const shown = await echoes.planKnowledge('reviewer', { lm })
  const asked = calls
  const kept = await echoes.planKnowledge('reviewer', { lm, asShown: true })
  expect(kept).toEqual(shown)
  expect(calls).toBe(asked)
  await writeFile(join(root, 'reviewer/knowledge.md'), `${text}more\n`)
  const again = await echoes.planKnowledge('reviewer', { lm, asShown: true })
  expect(again.text).not.toBe(shown.text)
  await echoes.applyKnowledge(again)
  expect(await file('knowledge.md')).toBe(again.text)
  expect(await readdir(join(root, 'reviewer'))).not.toContain('.knowledge-plan.json')
})

it('forgets what a model said where another plan was shown since', async () => {
  const { root, echoes } = await open(text)
  const lm = { model: 'test', complete: async () => '- One\n- Said by the model' }
  await echoes.planKnowledge('reviewer', { lm })
  const shown = await echoes.planKnowledge('reviewer')
  expect(await readdir(join(root, 'reviewer'))).not.toContain('.knowledge-plan.json')
  expect(await echoes.planKnowledge('reviewer', { asShown: true })).toEqual(shown)
})

it('refuses a plan whose file has changed since', async () => {
  const { root, echoes } = await open(text)
  const plan = await echoes.planKnowledge('reviewer')
  await writeFile(join(root, 'reviewer/knowledge.md'), `${text}more\n`)
  await expect(echoes.applyKnowledge(plan)).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
})

it('refuses what is no plan', async () => {
  const { echoes } = await open(text)
  const plan = await echoes.planKnowledge('reviewer')
  for (const given of [undefined, {}, { ...plan, role: undefined }, { ...plan, text: 5 }]) {
    await expect(echoes.applyKnowledge(given as never)).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringMatching(/^this is not a plan of shorter knowledge, at .*: make a new plan/),
    })
  }
})

it.each([
  ['fewest titles share', (n: number) => `${topics[n % 4]} walrus heron`, topics],
  ['is the first of the alphabet among equal ones', (n: number) => `walrus heron ${n}`, ['Heron']],
  [
    'others are grouped by, where a rarer one groups nobody',
    (n: number) => `${topics[n % 4]}${n % 12 === 0 ? ' walrus' : ''}${n % 18 === 0 ? ' heron' : ''}`,
    [...topics, 'Walrus'],
  ],
])('names a topic by the word that %s', async (_, titleOf, expected) => {
  const titled = entries.map((entry, n) => ({ ...entry, title: titleOf(n) }))
  const { echoes } = await open(printEchoes(appendEntries(emptyEchoes('reviewer'), titled)))
  const { blocks } = await echoes.planKnowledge('reviewer')
  expect(new Set(blocks.map(({ topic }) => topic))).toEqual(new Set(expected))
})
