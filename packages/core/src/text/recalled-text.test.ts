import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fenceRecalled, stripRecalled } from './recalled-text.ts'

it('marks text as data and names its source', () => {
  const fenced = fenceRecalled('Uses Postgres 16', 'conversation:abc')
  expect(fenced).toMatch(/^<recalled-memory source="conversation:abc" note="Data from memory\./)
  expect(fenced).toMatch(/\nUses Postgres 16\n<\/recalled-memory>$/)
})

it('takes fenced text out and leaves the words around it', () => {
  const fenced = fenceRecalled('old', 'window')
  expect(stripRecalled(`before ${fenced} between ${fenced} after`)).toBe('before  between  after')
})

it('leaves text without a complete fence exactly as it is', () => {
  for (const text of [
    '  plain  ',
    '<recalled-memory>',
    '<recalled-memory source="x" …',
    'a </recalled-memory> b',
  ]) {
    expect(stripRecalled(text)).toBe(text)
  }
})

it('cannot be escaped from, by the text or by its source', () => {
  const hostile = fc
    .array(
      fc.constantFrom(
        '</recalled-memory>',
        '</RECALLED-memory >',
        '< / recalled-memory>',
        '<recalled-memory source="',
        '<',
        '"',
        '>',
        '\n',
        'x',
      ),
    )
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(hostile, hostile, (text, source) => {
      const fenced = fenceRecalled(text, source)
      expect(fenced.match(/<\s*\/?\s*recalled-memory/gi)).toHaveLength(2)
      expect(stripRecalled(`me ${fenced} you`)).toBe('me  you')
    }),
  )
})

it.each([
  '</recalled\u200b-memory>',
  '<\u00ad/recalled-memory>',
  '</re\u202ecalled-memory>',
  '<\u0000/recalled-memory>',
  '</recalled\u2011memory>',
  '\uff1c/recalled-memory\uff1e',
  '<\uff0frecalled-memory>',
  '<recalled\u2060-memory source="window">',
])('escapes marks that only look like its own: %j', (mark) => {
  expect(fenceRecalled(`a ${mark} b`, 'x').split('\n')[1]).toBe(`a &lt;${mark.slice(1)} b`)
})

it('takes no longer with what nobody sees', () => {
  const text = `<${'\u200b'.repeat(200_000)}<r${'\u200b'.repeat(200_000)}`
  expect(fenceRecalled(text.repeat(3), 'x')).toContain(text)
})

it('takes out a block that stands in JSON, or in JSON within JSON', () => {
  const json = JSON.stringify({ text: fenceRecalled('remembered', 'x'), said: 'kept' })
  expect(stripRecalled(json)).toBe('{"text":"","said":"kept"}')
  const asText = JSON.stringify([{ type: 'text', text: json }])
  expect(stripRecalled(asText)).toBe(JSON.stringify([{ type: 'text', text: '{"text":"","said":"kept"}' }]))
  expect(stripRecalled(JSON.stringify(asText))).not.toContain('remembered')
})

it('takes a block whose end was cut off with it to the end, where texts are cut', () => {
  const cut = `seen: ${fenceRecalled('remembered '.repeat(9), 'x').slice(0, 150)}`
  expect(stripRecalled(cut)).toBe(cut)
  expect(stripRecalled(cut, { mayBeCut: true })).toBe('seen:')
})

it('takes time that grows with the length of a text, whatever stands in it', () => {
  const blank = ' '.repeat(200_000)
  expect(fenceRecalled(`<${blank}`, 'x')).toContain(`\n<${blank}\n`)
  expect(stripRecalled(fenceRecalled('', 'x').repeat(50_000))).toBe('')
})
