import { expect, it } from 'vitest'
import { canRead } from './can-read.ts'

const latin = { scripts: ['Latin'] }

it.each(['Where did the pool leak?', 'Wo war das Übel? Où ça?', 'Ελλάδα, or Greece?', '1914–1918 €', ''])(
  'reads %j',
  (text) => {
    expect(canRead(latin, text)).toBe(true)
  },
)

it.each(['Где течёт пул?', '漏れたプールは?', 'บ่อรั่วตรงไหน', 'Ελλάδα, SQL?', '𐀀𐀁 a'])(
  'does not read %j',
  (text) => {
    expect(canRead(latin, text)).toBe(false)
    expect(
      canRead(
        { scripts: ['Latin', 'Cyrillic', 'Han', 'Hiragana', 'Katakana', 'Thai', 'Greek', 'Linear_B'] },
        text,
      ),
    ).toBe(true)
  },
)

it('reads everything where nothing is said of scripts', () => {
  expect(canRead({}, 'Где течёт пул?')).toBe(true)
})
