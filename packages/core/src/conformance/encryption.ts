import { expect } from 'vitest'
import { keysFound, refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

const keyOf = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)
const options = { encryptionKey: { current: 'first', keys: { first: keyOf(1) } } }
const both = { current: 'second', keys: { first: keyOf(1), second: keyOf(2) } }
const value = { note: 'the blue door', n: 7, type: 'note' }

export const encryption: Theme = {
  title: 'Encryption',
  laws: [
    law(
      'An encrypted value reads as it was written, and its metadata say that it is encrypted.',
      async ({ memory }) => {
        await memory.write('long-term', 'key', value, { encrypt: true, tags: ['t'] })
        const record = await memory.read('long-term', 'key', { includeMetadata: true })
        expect(record).toMatchObject({ value, metadata: { encrypted: true, tags: ['t'], type: 'note' } })
        await memory.batchWrite('long-term', [{ key: 'other', value: 'x', options: { encrypt: true } }])
        expect(await memory.batchRead('long-term', ['key', 'other'])).toEqual(
          new Map<string, unknown>([
            ['key', value],
            ['other', 'x'],
          ]),
        )
      },
      options,
    ),

    law(
      'An encrypted value is never found by what it holds, and found by key, tags and type.',
      async ({ memory }) => {
        await memory.write('long-term', 'key', value, { encrypt: true, tags: ['t'] })
        await memory.write('long-term', 'plain', value)
        expect(await keysFound(memory, 'long-term', { text: 'blue door' })).toEqual(['plain'])
        expect(await keysFound(memory, 'long-term', { filters: { n: 7 } })).toEqual(['plain'])
        // Members of the envelope.
        expect(await keysFound(memory, 'long-term', { filters: { data: { exists: true } } })).toEqual([])
        const unsealed = { sealed: { exists: false } }
        expect(await keysFound(memory, 'long-term', { filters: unsealed })).toEqual(['key', 'plain'])
        expect(await keysFound(memory, 'long-term', { filters: { key: 'key' } })).toEqual(['key'])
        expect(await keysFound(memory, 'long-term', { tags: ['t'] })).toEqual(['key'])
        expect(await keysFound(memory, 'long-term', { filters: { encrypted: true } })).toEqual(['key'])
        await memory.write('long-term', 'large', 'x'.repeat(100_000), { encrypt: true })
        expect(await keysFound(memory, 'long-term', { filters: { v: 1 } })).toEqual([])
        expect(await keysFound(memory, 'long-term', { filters: { encrypted: false } })).toEqual(['plain'])
        const [match] = await memory.search('long-term', { tags: ['t'] })
        expect(match?.value).toEqual(value)
      },
      options,
    ),

    law(
      'What the store holds of an encrypted value is its envelope.',
      async ({ memory }) => {
        await memory.write('long-term', 'key', 'the blue door', { encrypt: true })
        const envelope = await memory.read('long-term', 'key', { decrypt: false })
        expect(envelope).toMatchObject({ sealed: 'aes-256-gcm', v: 1, kid: 'first' })
        expect(JSON.stringify(envelope)).not.toContain('blue')
        await memory.write('long-term', 'again', 'the blue door', { encrypt: true })
        expect(await memory.read('long-term', 'again', { decrypt: false })).not.toEqual(envelope)
      },
      options,
    ),

    law(
      'A value sealed with an older key of the ring still opens.',
      async ({ memory, reopen }) => {
        await memory.write('long-term', 'old', value, { encrypt: true })
        const later = await reopen({ encryptionKey: both })
        await later.write('long-term', 'new', value, { encrypt: true })
        expect(await later.read('long-term', 'old')).toEqual(value)
        expect(await later.read('long-term', 'new', { decrypt: false })).toMatchObject({ kid: 'second' })
        await refused('NOT_SUPPORTED', () => memory.read('long-term', 'new'))
      },
      options,
    ),

    law(
      'A wrong key is an error, never a value.',
      async ({ memory, reopen }) => {
        await memory.write('long-term', 'key', value, { encrypt: true, tags: ['t'] })
        const wrong = await reopen({ encryptionKey: { current: 'first', keys: { first: keyOf(3) } } })
        await refused('CORRUPTION', () => wrong.read('long-term', 'key'))
        await refused('CORRUPTION', () => wrong.search('long-term', { tags: ['t'] }))
        expect(await wrong.exists('long-term', 'key')).toBe(true)
      },
      options,
    ),

    law(
      'An envelope cannot be written as a value, so that no ciphertext is moved to another key.',
      async ({ memory }) => {
        await memory.write('long-term', 'key', value, { encrypt: true })
        const envelope = await memory.read('long-term', 'key', { decrypt: false })
        await refused('INVALID_INPUT', () => memory.write('long-term', 'other', envelope))
        expect(await memory.exists('long-term', 'other')).toBe(false)
      },
      options,
    ),

    law(
      'Overwriting an encrypted value with a plain one leaves nothing encrypted, and the reverse nothing plain.',
      async ({ memory }) => {
        await memory.write('long-term', 'key', value, { encrypt: true })
        await memory.write('long-term', 'key', value)
        expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual(['key'])
        await memory.write('long-term', 'key', value, { encrypt: true })
        expect(await keysFound(memory, 'long-term', { text: 'blue' })).toEqual([])
        expect(await memory.read('long-term', 'key')).toEqual(value)
      },
      options,
    ),

    law(
      'Text and embedding are refused for an encrypted value.',
      async ({ memory }) => {
        await refused('INVALID_INPUT', () =>
          memory.write('long-term', 'key', value, { encrypt: true, text: 'door' }),
        )
      },
      options,
    ),

    law(
      'Whoever lacks a key can list the encrypted values as their envelopes.',
      async ({ memory, reopen }) => {
        await memory.write('long-term', 'sealed', value, { encrypt: true, tags: ['t'] })
        await memory.write('long-term', 'plain', value, { tags: ['t'] })
        const without = await reopen({ encryptionKey: { current: 'second', keys: { second: keyOf(2) } } })
        await refused('NOT_SUPPORTED', () => without.search('long-term', { tags: ['t'] }))
        const found = await without.search('long-term', { tags: ['t'] }, { decrypt: false })
        const values = new Map(found.map((match) => [match.key, match.value]))
        expect(values.get('plain')).toEqual(value)
        expect(values.get('sealed')).toMatchObject({ sealed: 'aes-256-gcm', kid: 'first' })
      },
      options,
    ),
  ],
}
