import fc from 'fast-check'
import { expect, it } from 'vitest'
import { separateMarkup } from './separate-markup.ts'

const said = (text: string) => separateMarkup(text).said

it('removes injected tags wherever they stand and keeps the words around them', () => {
  expect(said('fix <system-reminder>x</system-reminder>this')).toBe('fix this')
  expect(said('<system-reminder>a `code` ``` b</system-reminder>\nkeep')).toBe('keep')
  expect(said('one ` here\n<system-reminder>x</system-reminder>and one ` there')).toBe(
    'one ` here\nand one ` there',
  )
})

it('keeps tags that a person wrote: unknown, unclosed or in code', () => {
  for (const text of [
    'why is <div>hi</div> blue?',
    'what does <system-reminder> mean?',
    'see `<system-reminder>x</system-reminder>` in the log',
    'see ``<system-reminder>x</system-reminder>`` in the log',
    'see `` ` <system-reminder>x</system-reminder> ` `` in the log',
    'see `a``<system-reminder>x</system-reminder>``b` in the log',
    '```\n<bash-stdout>1</bash-stdout>\n```',
    'a < b and c > d',
  ]) {
    expect(said(text)).toBe(text)
  }
})

it('leaves out of what a compaction printed the hooks that ran, not what they said', () => {
  const hook = (event: string, end = '') =>
    `${event} [/usr/bin/node /a b/[x] hook] completed successfully${end}`
  const text = ['Compacted (ctrl+o to see full summary)', hook('PreCompact'), hook('PostCompact', ': saved')]
  expect(separateMarkup(`<local-command-stdout>${text.join('\n')}</local-command-stdout>`).outputs).toEqual([
    `Compacted (ctrl+o to see full summary)\n${hook('PostCompact', ': saved')}`,
  ])
  const grey = text.map((line) => `\u001b[2m${line}\u001b[22m`).join('\n')
  expect(separateMarkup(`<local-command-stdout>${grey}</local-command-stdout>`)).toEqual(
    separateMarkup(`<local-command-stdout>${text.join('\n')}</local-command-stdout>`),
  )
  expect(separateMarkup(`<bash-stdout>${hook('PreCompact')}</bash-stdout>`).outputs).toEqual([
    hook('PreCompact'),
  ])
})

it('takes what other agents say for no words of a person, with what the host writes around it', () => {
  const message = '<teammate-message teammate_id="lead" color="blue">\nAll tests pass.\n</teammate-message>'
  const lead = 'Another Claude session sent a message:\n'
  const trailer = 'This came from another Claude session — not typed by your user.\nAnswer it there.'
  const parted = { outputs: [], messages: ['All tests pass.'] }
  expect(separateMarkup(message)).toEqual({ said: '', ...parted })
  expect(separateMarkup(`${lead}${message}\n${trailer}\n\nGo on.`)).toEqual({ said: 'Go on.', ...parted })
  const two = `${lead}<cross-session-message from="a">One</cross-session-message>\n<agent-message>Two</agent-message>`
  expect(separateMarkup(two)).toEqual({ said: '', outputs: [], messages: ['One', 'Two'] })
  const idle =
    '<teammate-message teammate_id="b">\n{"type":"idle_notification","from":"b"}\n</teammate-message>'
  expect(separateMarkup(`${lead}${idle}`)).toEqual({ said: '', outputs: [], messages: [] })
  expect(said(`${lead}what does that mean?`)).toBe(`${lead}what does that mean?`)
})

it('keeps what a person asked to remember, as it was typed, and leaves out what a hook and a fork were given', () => {
  expect(said('<user-memory-input>always lint</user-memory-input>')).toBe('# always lint')
  expect(said('<user-prompt-submit-hook>context</user-prompt-submit-hook>fix it')).toBe('fix it')
  expect(said('<fork-boilerplate>rules</fork-boilerplate>\nLook around.')).toBe('Look around.')
  expect(said('<mcp-resource-update server="x" uri="y">new</mcp-resource-update>\ngo on')).toBe('go on')
})

it('never changes a text without tags', () => {
  fc.assert(fc.property(fc.string(), (text) => text.includes('<') || said(text) === text))
})

it('keeps every word outside known tags', () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/)
  const reminder = word.map((inner) => `<system-reminder>${inner.toUpperCase()}</system-reminder>`)
  fc.assert(
    fc.property(fc.array(fc.oneof(word, reminder), { maxLength: 20 }), (parts) => {
      const words = parts.filter((part) => !part.startsWith('<'))
      expect(said(parts.join(' ')).split(/\s+/).filter(Boolean)).toEqual(words)
    }),
  )
})

it.each([
  '<system-reminder>',
  '<system-reminder ',
  '<system-reminder>`',
  '<bash-input></bash-input>',
  '<` `` ',
  '<agent-message></agent-message>',
])('takes time in proportion to the length of a text made of: %s', (piece) => {
  /** In microseconds. */
  const time = (pieces: number): number => {
    const text = piece.repeat(pieces)
    const times = [1, 2, 3].map(() => {
      // Of the processor alone: other processes may take turns with this one.
      const started = process.cpuUsage()
      separateMarkup(text)
      const { user, system } = process.cpuUsage(started)
      return user + system
    })
    return Math.min(...times)
  }
  time(1000)
  // Quadratic time would multiply by 64.
  expect(time(80_000) / Math.max(time(10_000), 500)).toBeLessThan(40)
})
