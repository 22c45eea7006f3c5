import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createDialogue } from '../src/terminal/dialogue.ts'

it('takes the answers that were typed ahead of their questions', async () => {
  const input = new PassThrough()
  const output = Object.assign(new PassThrough(), { isTTY: true })
  let printed = ''
  output.on('data', (chunk) => {
    printed += chunk
  })
  const ask = createDialogue(input, output)
  const first = ask('Which? ')
  input.write('none\nuser\nye')
  expect([await first, await ask('How? ')]).toEqual(['none', 'user'])
  const last = ask('Sure? ')
  input.write('s\n')
  expect(await last).toBe('yes')
  expect(printed).toContain('How? user\n')
})
