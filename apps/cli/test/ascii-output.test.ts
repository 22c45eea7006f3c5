import { expect, it } from 'vitest'
import { asciiOutput } from '../ascii-output.ts'

it('writes patterns in ASCII that match what they matched', async () => {
  const code = 'var ruled=/[│─]{2}ü\\p{L}/u,name="caf\\xE9"'
  const { code: ascii = '' } = (await asciiOutput.renderChunk?.call({} as never, code, {} as never)) ?? {}
  expect(ascii).toBe('var ruled=/[\\u2502\\u2500]{2}\\u00fc\\p{L}/u,name="caf\\xE9"')
  const pattern = new RegExp(ascii.slice(ascii.indexOf('/') + 1, ascii.lastIndexOf('/')), 'u')
  expect(pattern.test('││üé')).toBe(true)
})
