import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryErrorCode } from '../errors.ts'
import type { JsonValue } from '../json.ts'
import type { Address } from '../memory-store.ts'
import { createSealer } from './encryption.ts'

const bytes = (fill: number): Uint8Array => new Uint8Array(32).fill(fill)
const address: Address = { namespace: 'ada', scope: 'long-term', key: 'diary' }
const sealer = createSealer(bytes(1))

describe('createSealer', () => {
  it('opens any JSON value as it was sealed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.string({ minLength: 1 }), async (value, key) => {
        const json = JSON.parse(JSON.stringify(value)) as JsonValue
        const envelope = await sealer.seal({ ...address, key }, json)
        expect(await sealer.open({ ...address, key }, envelope)).toEqual(json)
      }),
      { numRuns: 100 },
    )
  })

  it('seals a value of a megabyte', async () => {
    const value = 'ä'.repeat(500_000)
    expect(await sealer.open(address, await sealer.seal(address, value))).toBe(value)
  })

  it.each([
    ['key', { ...address, key: 'other' }],
    ['scope', { ...address, scope: 'episodic' as const }],
    ['namespace', { ...address, namespace: 'bob' }],
  ])('opens nothing that was moved to another %s', async (_, moved) => {
    const envelope = await sealer.seal(address, 'private')
    await expect(sealer.open(moved, envelope)).rejects.toMatchObject({ code: MemoryErrorCode.CORRUPTION })
  })

  it('opens nothing of which a bit was changed, and says so without the value', async () => {
    const envelope = await sealer.seal(address, 'private')
    const data = Buffer.from(envelope.data, 'base64')
    for (let at = 0; at < data.length; at++) {
      const changed = Buffer.from(data)
      changed[at] = (changed[at] as number) ^ 1
      const error = await sealer
        .open(address, { ...envelope, data: changed.toString('base64') })
        .catch((e) => e)
      expect(error).toMatchObject({ code: MemoryErrorCode.CORRUPTION, scope: 'long-term', key: 'diary' })
      expect(String(error)).not.toContain('private')
    }
  })

  it('goes on with its key when the caller wipes the bytes that were given', async () => {
    const given = bytes(1)
    const wiped = createSealer(given)
    given.fill(0)
    expect(await sealer.open(address, await wiped.seal(address, 'private'))).toBe('private')
  })

  it('says of a later format that it does not know it', async () => {
    const envelope = { ...(await sealer.seal(address, 'private')), v: 2 as 1 }
    await expect(sealer.open(address, envelope)).rejects.toMatchObject({
      code: MemoryErrorCode.CORRUPTION,
      message: expect.stringContaining('format 2'),
    })
  })

  it('agrees with an independent implementation of AES-256-GCM', async () => {
    const { createDecipheriv } = await import('node:crypto')
    const envelope = await sealer.seal(address, { n: 1 })
    const data = Buffer.from(envelope.data, 'base64')
    const decipher = createDecipheriv('aes-256-gcm', bytes(1), Buffer.from(envelope.iv, 'base64'))
    decipher.setAAD(Buffer.from('[1,"default","ada","long-term","diary"]'))
    decipher.setAuthTag(data.subarray(-16))
    const text = Buffer.concat([decipher.update(data.subarray(0, -16)), decipher.final()]).toString()
    expect(text).toBe('{"n":1}')
  })

  it('never uses a nonce twice', async () => {
    const nonces = await Promise.all(
      Array.from({ length: 1000 }, async () => (await sealer.seal(address, 1)).iv),
    )
    expect(new Set(nonces).size).toBe(1000)
  })

  it.each([
    ['a key of another length', () => createSealer(new Uint8Array(16))],
    ['a text for a key', () => createSealer('x'.repeat(32) as never)],
    ['nothing', () => createSealer(null as never)],
    ['a ring without keys', () => createSealer({ current: 'a', keys: null } as never)],
    ['a text in a ring', () => createSealer({ current: 'a', keys: { a: 'x'.repeat(32) as never } })],
    ['a current key that is not there', () => createSealer({ current: 'b', keys: { a: bytes(1) } })],
  ])('refuses %s', (_, create) => {
    expect(create).toThrow(expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }))
  })
})
