import {
  type ConversationArchive,
  createInMemoryStore,
  createMemoryManager,
  type Message,
} from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clock, conversation, openMemory, readArchive, text } from '../../test/support.ts'
import type { ArchiveOptions } from '../options.ts'
import { archiveSession } from './archive-session.ts'
import { holdsInOrder } from './same-turns.ts'

it('finds as many pieces in a text as it is asked for, also where they are the same', () => {
  expect(holdsInOrder('yes\n\nyes', ['yes', 'yes'])).toBe(true)
  expect(holdsInOrder('yes\n\nno', ['yes', 'yes'])).toBe(false)
})

describe('a conversation whose ids tell only the places of its messages', () => {
  const turn = (id: string, said: string): Partial<Message> => ({ id, content: [text(said)] })
  const archiveAll = async (readings: Partial<Message>[][], options: ArchiveOptions = {}) => {
    const memory = openMemory()
    const outcomes = []
    for (const each of readings) outcomes.push(await archiveSession(memory, conversation('s', each), options))
    const found = await memory.search<ConversationArchive>('episodic', {}, { limit: 100 })
    const bodies = found.map(({ value }) => value.body).join('\n')
    return { memory, bodies, outcomes, last: outcomes.at(-1) }
  }
  const asked = turn('1', 'how?')
  const old = turn('2', 'the old answer')
  const other = turn('2', 'another answer')

  it.each([
    ['between others', [asked, old, turn('3', 'thanks')], [asked, turn('2b', 'new'), turn('3', 'thanks')]],
    ['at its end', [asked, old], [asked, other]],
    ['before it went on', [asked, old], [asked, other, turn('3', 'more')]],
    ['by more than before', [asked, turn('2', 'no')], [asked, turn('2', 'not so')]],
    ['to a heading of archives', [asked, old], [asked, turn('2', '## Tags')]],
    ['to only its beginning', [asked, turn('2', 'yes\n\nof course')], [asked, turn('2', 'yes')], []],
    ['by a line', [asked, turn('2', 'yes\nof course')], [asked, turn('2', 'yes')]],
  ])('keeps both courses of a conversation that was changed %s', async (_, first, second, kept?) => {
    const { memory, bodies, last } = await archiveAll([first, second])
    expect(last?.kept).toEqual(kept ?? ['conversation:s'])
    for (const { content = [] } of [...first, ...second])
      for (const block of content) expect(bodies).toContain((block as { text: string }).text)
    const again = await archiveSession(memory, conversation('s', second))
    expect(again).toMatchObject({ status: 'unchanged', kept: last?.kept })
    expect(await archiveSession(memory, conversation('s', first))).toMatchObject({ status: 'unchanged' })
  })

  it('loses no text of any series of readings', async () => {
    const said = fc.array(fc.constantFrom('a', 'b', 'a\nb', 'a\n\nb', '### User\n\na', '## Tags', '> q'), {
      minLength: 1,
      maxLength: 4,
    })
    const size = fc.integer({ min: 1, max: 60 })
    await fc.assert(
      fc.asyncProperty(fc.array(said, { minLength: 1, maxLength: 5 }), size, async (readings, partSize) => {
        const told = readings.map((texts) => texts.map((each, i) => turn(`${i + 1}`, each)))
        const { bodies, memory } = await archiveAll(told, { partSize })
        const escaped = (each: string): string => each.replace(/^### User/, '\\### User')
        for (const each of readings.flat()) expect(bodies).toContain(`\n\n${escaped(each)}\n\n`)
        const latest = conversation('s', told.at(-1) ?? [])
        expect(await archiveSession(memory, latest, { partSize })).toMatchObject({ status: 'unchanged' })
      }),
      { numRuns: 300 },
    )
  })

  it('replaces the archive whose last message went on', async () => {
    const longer = { id: '2', content: [text('the old answer'), text('and more of it')] }
    const { last, bodies } = await archiveAll([
      [asked, old],
      [asked, longer],
    ])
    expect(last).toMatchObject({ status: 'updated', kept: [], parts: [{ key: 'conversation:s' }] })
    expect(bodies.match(/the old answer/g)).toHaveLength(1)
  })

  it('compares no outputs of tools: they are cut, and may come later', async () => {
    const call = { type: 'tool_use' as const, id: 't', name: 'Bash', input: { command: 'ls' } }
    const run = (content: string): Partial<Message> => ({
      id: '2',
      content: [call, { type: 'tool_result', toolUseId: 't', content }, text('done')],
    })
    const still = { id: '2', content: [call, text('done')] }
    const { outcomes } = await archiveAll([
      [asked, still],
      [asked, run('a\n\nb')],
      [asked, run('c')],
      [asked, run('d'), turn('3', 'more')],
    ])
    expect(outcomes.map(({ status }) => status)).toEqual(['archived', 'unchanged', 'unchanged', 'updated'])
    const otherTool = { id: '2', content: [{ ...call, name: 'Read' }, text('done')] }
    expect(
      (
        await archiveAll([
          [asked, still],
          [asked, otherTool],
        ])
      ).last?.kept,
    ).toEqual(['conversation:s'])
  })

  it('knows an archive again that the memory redacts as a whole, or redacted less of once', async () => {
    const key = [
      asked,
      turn('2', '-----BEGIN RSA PRIVATE KEY-----'),
      turn('3', '-----END RSA PRIVATE KEY-----'),
    ]
    const { memory, outcomes } = await archiveAll([key, key, [...key, turn('4', 'thanks')]])
    expect(outcomes).toMatchObject([{}, { status: 'unchanged' }, { status: 'updated', kept: [] }])
    expect((await readArchive(memory, 's')).body).toContain('[redacted:private-key]')

    const token = `ghp_${'a1B2'.repeat(9)}`
    const lax = createMemoryManager({ stores: createInMemoryStore(), clock, redact: 'allow' })
    const secret = conversation('s', [turn('1', `use ${token}`)])
    await archiveSession(lax, secret)
    const archive = await readArchive(lax, 's')
    const older = { ...archive, body: archive.body.replaceAll('[redacted:github]', token) }
    expect(older.body).toContain(token)
    await lax.write('episodic', 'conversation:s', older, { type: 'conversation' })
    expect(await archiveSession(lax, secret)).toMatchObject({ status: 'unchanged', kept: [] })
    const grown = conversation('s', [turn('1', `use ${token}`), turn('2', 'done')])
    expect(await archiveSession(lax, grown)).toMatchObject({ status: 'updated', kept: [] })
  })

  it('knows an archive again that holds what a reader leaves out by now, and keeps its text', async () => {
    const noted = { id: '2', content: [text('a note of the host'), text('the old answer')] }
    const { memory, outcomes, bodies } = await archiveAll([
      [asked, noted],
      [asked, old],
      [asked, old, turn('3', 'more')],
    ])
    expect(outcomes).toMatchObject([{}, { status: 'unchanged' }, { kept: ['conversation:s'] }])
    expect(bodies).toContain('a note of the host')
    expect(await memory.search('episodic', {})).toHaveLength(2)
  })

  it('lets the ids decide where a person changed the words', async () => {
    const { memory } = await archiveAll([[asked, old]])
    const archive = await readArchive(memory, 's')
    const mine = { ...archive, body: archive.body.replace('the old answer', 'mine'), edited: true }
    await memory.write('episodic', 'conversation:s', mine, { type: 'conversation' })
    expect(await archiveSession(memory, conversation('s', [asked, old]))).toMatchObject({
      status: 'unchanged',
      kept: [],
    })
    const grown = [asked, old, turn('3', 'more')]
    expect((await archiveSession(memory, conversation('s', grown))).kept).toEqual(['conversation:s'])
    expect((await readArchive(memory, 's')).body).toBe(mine.body)
  })

  it('knows an archive again that was a file, with other line endings', async () => {
    const lines = [asked, turn('2', 'one\ntwo \ud800\r')]
    const { memory } = await archiveAll([lines])
    const archive = await readArchive(memory, 's')
    const onWindows = { ...archive, body: archive.body.toWellFormed().replaceAll('\n', '\r\n') }
    await memory.write('episodic', 'conversation:s', onWindows, { type: 'conversation' })
    expect(await archiveSession(memory, conversation('s', lines))).toMatchObject({ status: 'unchanged' })
    expect(await archiveSession(memory, conversation('s', [...lines, turn('3', 'x')]))).toMatchObject({
      status: 'updated',
      kept: [],
    })
  })
})
