import { type SessionSummary, windowNotesKey } from '@recall/core'
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

const withoutTail = (text: string): string => text.replace(/(?:^|\r?\n)(?:---[ \t]*\r?\n?|\s)*$/, '')

const handwritten = fc
  .array(
    fc.constantFrom(
      '# Now\n',
      '\n',
      '---\n',
      'Title\n---\n',
      'text  \n',
      '---\r\n',
      '- a\n',
      '```\n',
      '~~~ yaml\n',
      '~~~\n',
      '- ```\n',
      '  ```\n',
      'end',
    ),
  )
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

  const notesIn = (content: string): unknown =>
    windowEntries(content, { modified: 0 }).find(({ type }) => type === 'note')?.value

  it('reads notes with the lines between them, to the letter', () => {
    const notes = 'One\n\n---\r\n\nTwo\n--- \n---\n```yaml\n---\na: 1\n---\n```'
    const content = withSession(`# Now\n\n---\n\n${notes}\n`, session('a'), 'a')
    expect(notesIn(content)).toBe(notes)
    expect(notesIn(`${content}\n---\n\nBelow\n`)).toBe(`${notes}\n\nBelow`)
  })

  it('tells on which line the summary of a session, or a note, begins, and finds a session by nothing else', () => {
    const [a, b] = ['a', 'b'].map((id) => withSession('', session(id), id))
    const content = `# Now\n\n---\n\n${a}${b}\n---\n\n \nNote\n`
    const lines = content.split('\n')
    const entries = windowEntries(content, { modified: 0 })
    const texts = [session('a').summary, session('b').summary, 'Note']
    expect(entries.map(({ text }) => text)).toEqual(texts)
    expect(entries.map(({ line }) => lines[line - 1])).toEqual(texts)
    expect(windowEntries('\n\nNote\n', { modified: 0 })).toMatchObject([{ line: 3 }])
  })

  it('finds no session in the code of a note', () => {
    const shown = withSession('', session('shown'), 'x')
    const note = `So it looks:\n\n\`\`\`md\n---\n\n${shown}\n---\n\`\`\`\n`
    const content = withSession(note, session('a'), 'a')
    expect(parseWindow(content).map((block) => block.session?.sessionId ?? null)).toEqual([null, 'a'])
    expect(notesIn(content)).toBe(note.trim())
    expect(withoutBlocks(content, (key) => key !== 'session:shown')).toBe(null)
    expect(notesIn(`${withSession('', session('a'), 'a')}\n---\n\n${note}`)).toBe(note.trim())
  })

  it('finds a session between the code of two notes', () => {
    const content = `\`\`\`\na\n\`\`\`\n\n---\n\n${withSession('', session('a'), 'a')}\n---\n\n\`\`\`\nb\n\`\`\`\n`
    expect(parseWindow(content).map((block) => block.session?.sessionId ?? null)).toEqual([null, 'a', null])
  })

  it('finds every session below code that nobody closed', () => {
    const idsIn = (content: string): unknown[] =>
      parseWindow(content).flatMap((block) => block.session?.sessionId ?? [])
    const cut = session('a', undefined, 'Run this:\n```\nnpm test')
    expect(idsIn(withSession(withSession('', cut, 'a'), { ...cut, sessionId: 'b' }, 'b'))).toEqual(['a', 'b'])
    const below = withSession(withSession('# Now\n', cut, 'a'), { ...cut, sessionId: 'b' }, 'b')
    expect(idsIn(below)).toEqual(['a', 'b'])
    const open = '```\nopen\n\n---\n'
    expect(idsIn(withSession(withSession(open, session('a'), 'a'), session('b'), 'b'))).toEqual(['a', 'b'])
  })

  it('does not let a summary close the code that a note above it left open', () => {
    const note = 'Run this:\n\n```\nnpm test\n'
    const summary = 'It printed:\n\n```\nok\n```\n  ~~~ js\nover'
    const content = withSession(note, session('a', undefined, summary), 'a')
    const again = withSession(content, session('a', undefined, summary), 'a')
    expect(again).toBe(content)
    const below = withSession(content, session('b', undefined, summary), 'b')
    const kept = 'It printed:\n\n\\```\nok\n\\```\n\\  ~~~ js\nover'
    expect(parseWindow(below).flatMap((block) => block.session ?? [])).toMatchObject([
      { sessionId: 'a', summary: kept },
      { sessionId: 'b', summary: kept },
    ])
    expect(notesIn(below)).toBe(note.trim())
    expect(withSession('', session('a', undefined, summary), 'a')).toContain(summary)
  })

  it('has a session that went on behind those that ended meanwhile, and notes where they were', () => {
    const [first, second, later] = ['2026-01-01', '2026-01-02', '2026-01-03'].map(
      (day) => `${day}T00:00:00.000Z`,
    )
    const both = withSession(withSession('# Now\n\n', session('a', first), 'a'), session('b', second), 'b')
    const content = `${both}\n---\n\nNote\n`
    const moved = withSession(content, session('a', later, 'more'), 'a')
    expect(parseWindow(moved).map((block) => block.session?.sessionId ?? block.text.trim())).toEqual([
      '# Now',
      'b',
      'Note',
      'a',
    ])
    expect(parseWindow(moved).at(-1)?.session).toMatchObject({ date: later, summary: 'more' })
    expect(withSession(content, session('a', second, 'more'), 'a')).toBe(
      content.replace('what happened', 'more').replace(first as string, second as string),
    )
  })

  it('begins each session of two that a merge left with no line between them', () => {
    const [mine, yours] = ['a', 'b'].map((id) =>
      withSession('', session(id, undefined, `of ${id}`), `${id}.md`),
    )
    const merged = `# Now\n${mine}${yours}`
    const summaries = parseWindow(merged).map((block) => block.session?.summary ?? null)
    expect(summaries).toEqual([null, 'of a', 'of b'])
    expect(withoutBlocks(merged, (key) => key !== 'session:a')).toBe(`# Now\n${yours}`)
    expect(withSession(merged, session('a', undefined, 'more'), 'a.md')).toBe(merged.replace('of a', 'more'))
  })

  it('keeps the marks of a merge where a session goes, and says nothing of them', () => {
    const [mine, yours] = ['a', 'b'].map((id) => withSession('', session(id, undefined, `of ${id}`), id))
    const merged = `Note\n\n---\n\n<<<<<<< HEAD\n${mine}=======\n${yours}>>>>>>> 51fb131\n`
    const entries = windowEntries(merged, { modified: 0 })
    expect(entries.map(({ text }) => text)).toEqual(['of a', 'of b', 'Note'])
    expect(entries.map(({ line }) => merged.split('\n')[line - 1])).toEqual(['of a', 'of b', 'Note'])
    const without = (content: string, ...ids: string[]) =>
      withoutBlocks(content, (key) => !ids.includes(key)) ?? content
    expect(without(merged, 'session:a')).toBe(merged.replace(`${mine}`, ''))
    expect(without(merged, 'session:b')).toBe(merged.replace(`${yours}`, ''))
    expect(without(merged, 'session:a', 'session:b')).toBe('Note\n\n---\n\n')
    expect(without(merged, windowNotesKey)).toBe(merged.slice(merged.indexOf('<<<')))
    const more = withSession(merged, session('a', undefined, 'more'), 'a')
    expect(more).toBe(merged.replace('of a', 'more'))
    const moved = withSession(merged, session('a', '2026-01-02T00:00:00.000Z', 'more'), 'a')
    expect(windowEntries(moved, { modified: 0 }).map(({ text }) => text)).toEqual(['of b', 'more', 'Note'])
    expect(moved.startsWith(merged.replace(mine as string, ''))).toBe(true)
  })

  it('has a summary or a note without the marks in the midst of it', () => {
    const [first, second] = ['a', 'b'].map((id) => withSession('', session(id, undefined, 'one\ntwo'), id))
    const content = `${first}${second}`
      .replace('two', '<<<<<<< HEAD\ntwo\n=======\nthree')
      .concat('>>>>>>> 51fb131\n\n---\n\nx\n<<<<<<< HEAD\ny\n=======\n---\nz\n>>>>>>> 51fb131\n')
    const [a, b, note] = windowEntries(content, { modified: 0 })
    expect(a).toMatchObject({ text: 'one\ntwo\nthree', derived: true })
    expect(b).toMatchObject({ text: 'one\ntwo', line: 12 })
    expect(note?.value).toBe('x\ny\n---\nz')
    const left = withoutBlocks(content, (key) => key !== windowNotesKey) ?? ''
    expect(content.startsWith(left)).toBe(true)
  })

  it('keeps a session whole that quotes another, or a line as between two', () => {
    const quoted = `Told:\n---\nand\n--- \n${withSession('', session('quoted'), 'x')}`
    const content = withSession(withSession('', session('a', undefined, quoted), 'a'), session('b'), 'b')
    expect(parseWindow(content).map((block) => block.session?.sessionId)).toEqual(['a', 'b'])
  })

  it('takes a heading like that of a session for one only where the facts follow it', () => {
    const quoted = '## Session two — later\n\nWent well.'
    const content = withSession('', session('a'), 'a').replace('what happened', quoted)
    expect(parseWindow(content).map((block) => block.session?.summary)).toEqual([quoted])
  })

  it('has a session without a date end when the file was written', () => {
    const content = withSession('', session('a', 'yesterday'), 'a')
    expect(windowEntries(content, { modified: 7 })).toMatchObject([{ created: 7, updated: 7 }])
  })

  it('replaces a session where it stands', () => {
    const before = withSession(withSession('# Now\n', session('a'), 'a'), session('b'), 'b')
    const after = withSession(before, session('a', undefined, 'something else'), 'a')
    expect(parseWindow(after).map(({ session: each }) => each?.sessionId ?? null)).toEqual([null, 'a', 'b'])
    expect(after).toBe(before.replace('what happened', 'something else'))
  })

  it('adds a session in the order of their ends, one whose end nobody can read first', () => {
    const on = (day: number): SessionSummary => session(`s${day}`, `2026-01-0${day}T00:00:00.000Z`)
    const [a, b, c] = [on(1), on(2), on(3)]
    const write = (...sessions: SessionSummary[]): string =>
      sessions.reduce((content, each) => withSession(content, each, `${each.sessionId}.md`), '# Now\n')
    expect(write(c, a, b)).toBe(write(a, b, c))
    expect(write(a, b, session('some', 'some day'))).toBe(write(session('some', 'some day'), a, b))
  })

  it('begins with a session where the one above it goes', () => {
    const first = withSession('', session('a'), 'a')
    const both = withSession(first, session('b', undefined, 'more'), 'b')
    expect(withoutBlocks(both, (key) => key !== 'session:a')).toBe(
      withSession('', session('b', undefined, 'more'), 'b'),
    )
  })

  it('keeps a title that stands by itself where the notes go', () => {
    const titled = withSession('# Now\n', session('a'), 'a')
    const withoutNotes = (content: string) => withoutBlocks(content, (key) => key !== windowNotesKey)
    expect(withoutNotes(titled)).toBe(null)
    expect(withoutNotes(`${titled}\n---\n\nCall Ana\n`)).toBe(`${titled}\n`)
  })

  it('takes a heading by itself for a title, not a line of a note that has such a mark', () => {
    expect(notesIn('\n# Now\n')).toBe(undefined)
    expect(notesIn('# Now\n\nCall Ana\n')).toBe('# Now\n\nCall Ana')
    expect(notesIn('Look at #12\n')).toBe('Look at #12')
    expect(notesIn('#todo call Ana\n')).toBe('#todo call Ana')
    expect(notesIn('---\n\nCall Ana\n\n---\n\n---\n\n# Now\n')).toBe('Call Ana')
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
    expect(fitsWindow({ ...session('a'), duration: '5\nm' })).toBe(false)
    expect(fitsWindow(session('a', 'some day'))).toBe(false)
  })

  it('is read and written in time that grows with its length', () => {
    const s = session('s')
    const code = '```\n'.repeat(100_000)
    expect(parseWindow(withSession(code, s, 'a.md')).at(-1)?.session?.sessionId).toBe('s')
    const blank = `${withSession('', s, 'a.md')}${' '.repeat(200_000)}x`
    expect(withSession(blank, s, 'a.md')).not.toContain('x')
    expect(parseWindow(withSession('', s, 'a.md') + code)).toHaveLength(1)
  })
})
