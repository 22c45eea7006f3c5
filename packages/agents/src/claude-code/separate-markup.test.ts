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

it.each(['<system-reminder>', '<system-reminder>`', '<bash-input></bash-input>'])(
  'takes time in proportion to the length of a text made of: %s',
  (piece) => {
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
  },
)
