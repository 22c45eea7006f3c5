import type { ContentBlock, Message } from '@recall/core'
import { expect, it } from 'vitest'
import { lastAnswer } from './last-answer.ts'
import { pieceSeparator, renderArchive, renderTurn } from './render-archive.ts'

type Turn = [role: Message['role'], ...blocks: (string | ContentBlock)[]]

const noTags = { decisions: [], actionItems: [], files: [], tools: [] }

function archiveOf(...turns: Turn[]): string {
  const pieces = turns.flatMap(([role, ...blocks], i) => {
    const content = blocks.map((block) =>
      typeof block === 'string' ? { type: 'text' as const, text: block } : block,
    )
    return renderTurn({ id: `${i}`, role, content }, turns[i - 1]?.[0] ?? null)
  })
  return renderArchive({ summary: 'Build it', decisions: [], actionItems: [] }, pieces, noTags)
}

const tool: ContentBlock = { type: 'tool_use', id: '1', name: 'Bash', input: { command: 'make' } }
const output: ContentBlock = { type: 'tool_result', toolUseId: '1', content: 'one\n\ntwo', isError: false }

it('is what was said after all tools', () => {
  const body = archiveOf(
    ['user', 'Build it'],
    ['assistant', 'Let me look.', tool],
    ['assistant', output],
    ['assistant', 'It is built, and all tests pass.', 'It is pushed.'],
    ['user', 'Thanks'],
  )
  expect(lastAnswer(body)).toBe('It is built, and all tests pass. It is pushed.')
})

it('is what was said before, where tools came last or alone', () => {
  const asked: Turn = ['user', 'Build it']
  expect(lastAnswer(archiveOf(asked, ['assistant', 'Let me look.', tool, output]))).toBe('Let me look.')
  const stopped = archiveOf(asked, ['assistant', 'Let me look.', tool], asked, ['assistant', output])
  expect(lastAnswer(stopped)).toBe('Let me look.')
  expect(lastAnswer(archiveOf(asked, ['assistant', tool, output]))).toBe('')
  expect(lastAnswer(archiveOf(asked))).toBe('')
})

it('is told without code, tables and marks, and not at any length', () => {
  const text = [
    '## Done',
    'Pushed and clean:',
    '```\nOn branch main\n```',
    '| file | lines |\n| --- | --- |\n| a.ts | 12 |',
    '---',
    '> as you asked',
    '~~~~sh\nmake\n~~~\n~~~~',
    'The epic is closed.',
  ].join(pieceSeparator)
  expect(lastAnswer(archiveOf(['assistant', text]))).toBe(
    'Done Pushed and clean: > as you asked The epic is closed.',
  )
  expect(lastAnswer(archiveOf(['assistant', 'Cut off: ```\nhalf a block']))).toBe('Cut off: ``` half a block')
  expect(lastAnswer(archiveOf(['assistant', 'Cut off:\n```\nhalf a block']))).toBe('Cut off:')
  const listed = '1. ```sh\n   ninja\n   ```\n\nIt is on staging.'
  expect(lastAnswer(archiveOf(['assistant', listed]))).toBe('It is on staging.')
  expect(lastAnswer(archiveOf(['assistant', 'on and on '.repeat(100)])).length).toBeLessThanOrEqual(400)
})

it('is read to its end where a person took the tags away', () => {
  const body = archiveOf(['user', 'Build it'], ['assistant', 'It is built.'])
  expect(lastAnswer(body.slice(0, body.indexOf('\n\n## Tags')))).toBe('It is built.')
})

it('holds no part of a secret that a person typed into the archive', () => {
  const token = `github_pat_${'a1B2c3D4e5F'.repeat(2)}_${'a1B2'.repeat(15).slice(1)}`
  const said = `${'on and on '.repeat(31)}with ${token}`
  expect(said.lastIndexOf(' ')).toBeLessThan(320)
  expect(said.length).toBeGreaterThan(400)
  expect(lastAnswer(archiveOf(['assistant', said]))).toMatch(/with \[redacted:[a-z-]+\]$/)
  const late = `${'on '.repeat(128)}with ${token}`
  expect(lastAnswer(archiveOf(['assistant', late]))).not.toContain('github_pat')
})
