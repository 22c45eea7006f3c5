import { MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { createExtensions } from './create-extensions.ts'
import type { Database } from './database.ts'

const good = {
  own: { version: 17, encoding: 'UTF8' },
  offered: { vector: '0.10.2', btree_gin: '1.3', pg_trgm: '1.6' } as Record<string, string>,
}

/** A server of which only what it tells of itself is there. */
function serverOf({ own, offered }: typeof good, create: () => unknown = () => []): Database {
  const answers = [[own], Object.entries(offered).map(([name, version]) => ({ name, version }))]
  return { execute: async () => answers.shift() ?? create() } as unknown as Database
}

it('takes a server that has what it takes', async () => {
  await createExtensions(serverOf(good))
})

it.each([
  ['postgres', { own: { ...good.own, version: 14 } }, /Postgres 14: .* 15 or newer/],
  ['encoding', { own: { ...good.own, encoding: 'LATIN1' } }, /LATIN1.*create database.*UTF8/],
  ['pgvector', { offered: { ...good.offered, vector: '0.7.4' } }, /has 0\.7\.4 .*pgvector 0\.8/],
  ['contrib', { offered: { vector: '0.8.0', btree_gin: '1.3' } }, /no extension pg_trgm: install/],
])('says what is wrong with its %s', async (_, other, says) => {
  const refused = createExtensions(serverOf({ ...good, ...other }))
  await expect(refused).rejects.toMatchObject({ code: MemoryErrorCode.NOT_SUPPORTED, message: says })
})

it('says who has to create what this user may not', async () => {
  const refuse = () => Promise.reject(Object.assign(new Error('permission denied'), { code: '42501' }))
  await expect(createExtensions(serverOf(good, refuse))).rejects.toMatchObject({
    code: MemoryErrorCode.NOT_SUPPORTED,
    message: expect.stringContaining('have a superuser run create extension vector'),
  })
})
