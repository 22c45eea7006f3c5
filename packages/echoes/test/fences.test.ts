import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { type EchoEntry, openEchoes, printEntry } from '../src/index.ts'
import { entryOf } from './support.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** Echoes whose reviewer has these files, and nobody who says yes. */
async function open(files: Record<string, string>) {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  folders.push(root)
  await mkdir(join(root, 'reviewer'))
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'reviewer', name), text)
  const clock = () => Date.parse('2026-06-30')
  const echoes = openEchoes({ root, clock, policy: { lineLimit: 100_000 } })
  const read = async (): Promise<EchoEntry[]> =>
    (await echoes.read('reviewer')).echoes.map(({ entry }) => entry)
  const text = (name: string): Promise<string> => readFile(join(root, 'reviewer', name), 'utf8')
  return { root, echoes, read, text }
}

/** An entry with these lines between its fields. */
const holding = (entry: EchoEntry, ...lines: string[]): string =>
  printEntry(entry).replace(/(?=- \*\*verified)/, () => lines.map((line) => `${line}\n`).join(''))

const etched = printEntry(entryOf({ layer: 'etched', title: 'Planted' }))

describe('a comment that a finding does not close', () => {
  it('plants no etched entry, and hides none', async () => {
    const { echoes, read } = await open({
      'MEMORY.md': `# Reviewer\n\n<!--\n\n${printEntry(entryOf({ title: 'a' }))}`,
      'ann-findings.md': holding(entryOf({ title: 'b' }), '<!--'),
      'bob-findings.md': holding(entryOf({ title: 'c' }), '<!--', etched, '-->'),
      'cat-findings.md': holding(entryOf({ title: 'd' }), '-->'),
    })
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 3, kept: [] })
    expect((await read()).map(({ title, layer }) => [title, layer])).toEqual(
      ['a', 'b', 'c', 'd'].map((title) => [title, entryOf().layer]),
    )
  })
})

describe('a fence that a finding does not close', () => {
  it.each(['```', '~~~', '`````', '```js', '~~~~ md'])('plants no etched entry: %s', async (fence) => {
    const closing = /^[`~]+/.exec(fence)?.[0] ?? ''
    const { echoes, read, text } = await open({
      'ann-findings.md': holding(entryOf({ title: 'a' }), fence),
      'bob-findings.md': holding(entryOf({ title: 'b' }), fence, etched, closing),
    })
    const reasons = ['its code cannot be told from its fields: indent the code']
    expect(await echoes.consolidate('reviewer')).toMatchObject({
      added: 1,
      kept: [{ agent: 'bob', reasons }],
    })
    expect(await read()).toEqual([entryOf({ title: 'a' })])
    expect(await text('bob-findings.md')).toContain(etched)
  })

  it.each([
    ['alone', ['```']],
    ['in a pair, behind one of the memory', ['```', '```']],
  ])('hides nothing that stood before: %s', async (_, lines) => {
    const { echoes, read } = await open({
      'MEMORY.md': `# Reviewer\n\n\`\`\`\n\n${etched}`,
      'ann-findings.md': holding(entryOf(), ...lines),
    })
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 1 })
    expect((await read()).map(({ title }) => title)).toEqual(['Planted', entryOf().title])
  })

  it('keeps the code, indented, and knows the finding again', async () => {
    const finding = holding(entryOf(), '```', '# no heading', '', 'npm test', '```')
    const { root, echoes, text } = await open({ 'ann-findings.md': finding })
    await echoes.consolidate('reviewer')
    expect(await text('MEMORY.md')).toContain('\n  ```\n  # no heading\n\n  npm test\n  ```\n- **verified**')
    await writeFile(join(root, 'reviewer/bob-findings.md'), finding)
    expect(await echoes.consolidate('reviewer')).toMatchObject({ added: 0, merged: 1 })
    await expect(text('archive/findings-2026-06-30.md')).rejects.toThrow()
  })

  it('decides by the fields outside of code, where a finding shows others', async () => {
    const shown = holding(entryOf({ layer: 'etched' })).replace(
      '- **layer',
      '```\n- **layer**: traced\n```\n$&',
    )
    const lineEnds = printEntry(entryOf()).replace('- **layer', '- **layer**: etched\r\r\n$&')
    const { echoes, read } = await open({ 'ann-findings.md': shown, 'bob-findings.md': lineEnds })
    expect(await echoes.consolidate('reviewer')).toMatchObject({
      added: 0,
      kept: [{ reasons: ['only a person adds etched entries'] }, { agent: 'bob' }],
    })
    expect(await read()).toEqual([])
  })
})

describe('a memory with a fence that nobody closed', () => {
  const mine = entryOf({ layer: 'etched', title: 'mine' })
  const memory = [holding(entryOf({ title: 'first' }), '```'), printEntry(mine), printEntry(entryOf())].join(
    '\n',
  )

  it('grows and loses entries as any other', async () => {
    const { echoes, read } = await open({ 'MEMORY.md': memory })
    await echoes.add('reviewer', entryOf({ title: 'more', learning: 'Run:\n```\nnpm test' }))
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-002']))
    expect((await read()).map(({ title }) => title)).toEqual(['first', 'mine', 'more'])
  })

  it('stays as it is where an entry that comes back would close it', async () => {
    const code = holding(entryOf({ title: 'code' }), '```', 'npm test', '```')
    const { root, echoes, read, text } = await open({ 'MEMORY.md': `${printEntry(mine)}\n${code}` })
    await echoes.applyEdit(await echoes.planRemoval('reviewer', ['inscribed-001']))
    const edited = `\`\`\`js\n\n${await text('MEMORY.md')}`
    await writeFile(join(root, 'reviewer/MEMORY.md'), edited)
    const refused = { code: 'MEMORY_CONFLICT', message: expect.stringContaining('is not closed') }
    await expect(echoes.restoreEntry('reviewer', 'inscribed-001')).rejects.toMatchObject(refused)
    expect(await text('MEMORY.md')).toBe(edited)
    expect(await read()).toEqual([mine])
  })
})

describe('any findings', () => {
  const anyTitle = fc.constantFrom('a', 'b', 'c', 'd')
  const anyLayer = fc.constantFrom('etched', 'inscribed', 'traced')
  const anyEcho = fc
    .record({ title: anyTitle, layer: anyLayer, learning: fc.constantFrom('x', '```\nx', 'x\n<!--') })
    .map((changes) => entryOf(changes as Partial<EchoEntry>))
  const anyLine = fc.oneof(
    fc.constantFrom('```', '~~~', '````', '```js', '  ```', '- ```', '> ~~~', '\t~~~', '<!--', '-->', ''),
    fc.constantFrom('# x', '### [2026-01-01] x', '- **layer**: etched', '- **layer**: traced', '- x', '\r'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  )
  const anyFence = fc.constantFrom('```', '```', '~~~', '````')
  const anyPart = fc.oneof(
    anyEcho.map(printEntry),
    fc.tuple(anyEcho, anyFence).map(([entry, fence]) => holding(entry, fence)),
    fc.tuple(anyEcho, anyFence).map(([entry, fence]) => `${fence}\n${printEntry(entry)}\n${fence}\n`),
    fc.tuple(anyEcho, fc.array(anyLine, { maxLength: 3 })).map(([entry, lines]) => holding(entry, ...lines)),
    anyLine.map((line) => `${line}\n`),
  )
  const anyFile = fc
    .tuple(fc.array(anyPart, { maxLength: 8 }), fc.constantFrom('\n', '\r\n', '\r\r\n'))
    .map(([parts, end]) => parts.join('').replaceAll('\n', end))
  const known = ({ verified, confidence, layer, ...rest }: EchoEntry) => ({
    ...rest,
    etched: layer === 'etched',
  })

  it('change no entry that stands in the memory, add no etched one, and are all in it', async () => {
    await fc.assert(
      fc.asyncProperty(anyFile, fc.array(anyFile, { maxLength: 4 }), async (memory, findings) => {
        const files = findings.map((text, i) => [`a${i}-findings.md`, text] as const)
        const { echoes, read } = await open({ 'MEMORY.md': memory, ...Object.fromEntries(files) })
        const before = await read()
        const { added } = await echoes.consolidate('reviewer')
        const after = await read()
        expect(after.slice(0, before.length).map(known)).toEqual(before.map(known))
        expect(after).toHaveLength(before.length + added)
        expect(after.slice(before.length).filter(({ layer }) => layer === 'etched')).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})
