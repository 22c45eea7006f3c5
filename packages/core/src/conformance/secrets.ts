import { expect } from 'vitest'
import type { MemoryError } from '../errors.ts'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

/** Assembled at run time, so that repository scanners do not take it for a real token. */
const token = ['gh', 'p_', 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4'].join('')
const placeholder = '[redacted:github]'

export const secrets: Theme = {
  title: 'Secrets',
  laws: [
    law('A secret in a value is replaced before it is stored or indexed.', async ({ memory }) => {
      await memory.write('long-term', 'note', { text: `use ${token} to push`, list: [token] })
      expect(await memory.read('long-term', 'note')).toEqual({
        text: `use ${placeholder} to push`,
        list: [placeholder],
      })
      expect(await keysFound(memory, 'long-term', { text: token })).toEqual([])
      expect(await keysFound(memory, 'long-term', { text: 'push' })).toEqual(['note'])
    }),

    law('A member whose name says secret loses its value.', async ({ memory }) => {
      await memory.write('long-term', 'login', { user: 'ada', password: 'hunter2hunter2' })
      expect(await memory.read('long-term', 'login')).toEqual({
        user: 'ada',
        password: '[redacted:password]',
      })
    }),

    law(
      'Secrets in tags, in the type, in the text option and in batches are replaced as well.',
      async ({ memory }) => {
        await memory.batchWrite('long-term', [
          {
            key: 'note',
            value: token,
            options: { tags: [token, 'kept'], type: token, text: `about ${token}` },
          },
        ])
        await memory.atomicUpdate('long-term', [{ operation: 'set', key: 'second', value: token }])
        const matches = await memory.search('long-term', {})
        expect(JSON.stringify(matches)).not.toContain(token)
        expect(await keysFound(memory, 'long-term', { tags: ['kept'] })).toEqual(['note'])
        expect(await keysFound(memory, 'long-term', { text: 'about' })).toEqual(['note'])
        expect(await keysFound(memory, 'long-term', { text: token })).toEqual([])
      },
    ),

    law('A key that holds a secret is refused without repeating it.', async ({ memory }) => {
      for (const [value, options] of [
        [1],
        [new Date(0)],
        [1, { encrypt: true }],
        [1, { ttl: -1 }],
      ] as const) {
        const write = memory.write('long-term', token, value, options)
        const error: unknown = await write.catch((reason: unknown) => reason)
        expect(error).toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
        expect(JSON.stringify([String(error), error])).not.toContain(token)
      }
      expect(await keysFound(memory, 'long-term', {})).toEqual([])
    }),

    law('A refusal repeats no secret, also where a member is named by one.', async ({ memory }) => {
      for (const value of [{ [token]: new Date(0) }, { a: [{ [`x ${token}`]: Number.NaN }] }]) {
        const error: unknown = await memory
          .write('long-term', 'note', value)
          .catch((reason: unknown) => reason)
        expect(error).toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
        const { message, details, cause, stack } = error as MemoryError
        expect(JSON.stringify([message, details, String(cause), stack])).not.toContain(token)
      }
    }),

    law('Text without secrets is left as it is.', async ({ memory }) => {
      const text =
        'The password reset flow moved to src/auth/reset-flow.ts in 9fceb02d0ae598e95dc970b74767f19372d61af8.'
      await memory.write('long-term', 'note', text)
      expect(await memory.read('long-term', 'note')).toBe(text)
    }),

    law(
      'A memory that rejects secrets refuses the write and stores nothing.',
      async ({ memory }) => {
        await refused('INVALID_INPUT', () => memory.write('long-term', 'note', `use ${token}`))
        await refused('INVALID_INPUT', () =>
          memory.batchWrite('long-term', [
            { key: 'a', value: 1 },
            { key: 'b', value: token },
          ]),
        )
        expect(await keysFound(memory, 'long-term', {})).toEqual([])
      },
      { redact: 'reject' },
    ),

    law(
      'A memory that allows secrets keeps them verbatim.',
      async ({ memory }) => {
        await memory.write('long-term', 'note', { password: 'hunter2hunter2', token })
        expect(await memory.read('long-term', 'note')).toEqual({ password: 'hunter2hunter2', token })
      },
      { redact: 'allow' },
    ),

    law('Encryption without a key is refused, never plain text.', async ({ memory }) => {
      await refused('NOT_SUPPORTED', () => memory.write('long-term', 'note', 'private', { encrypt: true }))
      expect(await memory.exists('long-term', 'note')).toBe(false)
    }),
  ],
}
