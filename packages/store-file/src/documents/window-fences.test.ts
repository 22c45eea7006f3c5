import { expect, it, vi } from 'vitest'
import { parseWindow, withSession } from './window.ts'

/** Lines of which it was asked where the code that they open is closed. */
const asked = vi.hoisted((): string[] => [])

vi.mock('@recall/core/text', async (original) => {
  const text = await original<typeof import('@recall/core/text')>()
  const closingFences: typeof text.closingFences = (lines) => {
    const closingOf = text.closingFences(lines)
    return (from) => {
      asked.push(lines[from] ?? '')
      return closingOf(from)
    }
  }
  return { ...text, closingFences }
})

it('looks for the end of code in notes alone, not from each line of a session to the end of the file', () => {
  const session = {
    sessionId: 's',
    date: '2026-01-01T00:00:00.000Z',
    duration: '5m',
    messageCount: 3,
    summary: '```js\n```js\n```js\n```',
    archive: 'conversation:s',
  }
  const content = withSession('', session, 'a.md')
  asked.length = 0
  const blocks = parseWindow(`~~~\nnote\n~~~\n\n---\n\n${content}`)
  expect(blocks.map((block) => block.session?.summary ?? null)).toEqual([null, session.summary])
  expect(asked.filter((line) => line.trim() !== '' && !line.startsWith('## Session '))).toEqual(['~~~\n'])
})
