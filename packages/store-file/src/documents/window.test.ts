import type { SessionSummary } from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fitsWindow, parseWindow, windowEntries, withoutBlocks, withSession } from './window.ts'

const session = (
  id: string,
  date = '2026-01-01T00:00:00.000Z',
  summary = 'what happened',
): SessionSummary => ({
  sessionId: id,
  date,
  duration: '5m',
  messageCount: 3,
  summary,
  archive: `conversation:${id}`,
})

const withoutTail = (text: string): string => text.replace(/(?:^|\n)(?:---[ \t]*\r?\n?|\s)*$/, '')

const handwritten = fc
  .array(fc.constantFrom('# Now\n', '\n', '---\n', 'Title\n---\n', 'text  \n', '---\r\n', '- a\n', 'end'))
  .map((lines) => lines.join(''))

describe('the window', () => {
  it('gives every session back, and keeps what is written by hand byte for byte', () => {
    fc.assert(
      fc.property(handwritten, fc.uniqueArray(fc.nat(9), { maxLength: 4 }), (text, ids) => {
        let content = text
        for (const id of ids)
          content = withSession(
            content,
            session(`s${id}`, `2026-01-0${id + 1}T00:00:00.000Z`),
            'conversations/conversation-001.md',
          )
        expect(content.startsWith(text)).toBe(true)
        const keys = windowEntries(content, { modified: 0 }).flatMap(({ key, type }) =>
          type === 'session-summary' ? key : [],
        )
        expect(keys.sort()).toEqual(ids.map((id) => `session:s${id}`).sort())
        for (const id of ids) content = withoutBlocks(content, (key) => key !== `session:s${id}`) ?? content
        // The line that separated the last session may go with it.
        expect(withoutTail(content)).toBe(withoutTail(text))
      }),
      { numRuns: 500 },
    )
  })

  it('replaces a session where it stands', () => {
    const before = withSession(withSession('# Now\n', session('a'), 'a'), session('b'), 'b')
    const after = withSession(before, session('a', undefined, 'something else'), 'a')
    expect(parseWindow(after).map(({ session: each }) => each?.sessionId ?? null)).toEqual([null, 'a', 'b'])
    expect(after).toContain('something else')
  })

  it('keeps the project of a session, and reads windows that name none', () => {
    const told = { ...session('a'), project: '/home/ana/shop · api' }
    const content = withSession(withSession('', told, 'conversations/conversation-001.md'), session('b'), 'b')
    expect(content).toContain('conversations/conversation-001.md · **Project**: /home/ana/shop · api\n')
    const [a, b] = parseWindow(content.replaceAll('\n', '\r\n')).map((block) => block.session)
    expect(a).toEqual(told)
    expect(b).not.toHaveProperty('project')
  })

  it('takes only sessions that read as they were written', () => {
    expect(fitsWindow({ ...session('a'), project: '/home/ana/two\nlines' })).toBe(false)
    expect(fitsWindow(session('a b — c'))).toBe(true)
    expect(fitsWindow(session('two\nlines'))).toBe(false)
    expect(fitsWindow(session('a', 'some day'))).toBe(false)
  })
})
