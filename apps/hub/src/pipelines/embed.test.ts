import { type Embedder, MemoryError, MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import type { Hub } from '../hub.ts'
import { embedText } from './embed.ts'

const messageOf = (error: MemoryError, mode: 'document' | 'query'): Promise<unknown> => {
  const embedder: Embedder = { model: 'down', dimensions: 2, embed: () => Promise.reject(error) }
  const config = { embedTimeoutMs: 1000 } as Hub['config']
  return embedText({ embedder, config }, 'a text', mode).catch((error: MemoryError) => error.message)
}

it.each([
  ['does not answer', new MemoryError('down', MemoryErrorCode.UNAVAILABLE)],
  [
    'refuses this text',
    new MemoryError('too long', MemoryErrorCode.UNAVAILABLE, { details: { refusesText: true } }),
  ],
])('says that nothing was written to those alone who write, where the model %s', async (what, error) => {
  expect(await messageOf(error, 'document')).toContain(`${what}, and nothing was written: `)
  expect(await messageOf(error, 'query')).toContain(`${what}: `)
})
