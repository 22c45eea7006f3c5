import { expect, it } from 'vitest'
import { isMemoryError } from '../errors.ts'
import { invalidInput, parseInput } from '../parse-input.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createMemoryManager } from './create-memory-manager.ts'
import { managerOptionsSchema, searchOptionsSchema, writeOptionsSchema } from './inputs.ts'

function problems(call: () => unknown): unknown {
  try {
    call()
  } catch (error) {
    if (isMemoryError(error, 'MEMORY_INVALID_INPUT')) return error.details?.issues
    throw error
  }
  return []
}

it('reports every problem with its path', () => {
  const given = { limit: 0, offset: -1, sortBy: 'name' }
  expect(problems(() => parseInput(searchOptionsSchema, given, 'options'))).toMatchObject([
    { path: 'options.limit' },
    { path: 'options.offset' },
    { path: 'options.sortBy' },
  ])
})

it.each([
  [writeOptionsSchema, { ttl: '1h' }, /^given.ttl: must be a number of milliseconds/],
  [
    managerOptionsSchema,
    { policies: { defaultTtl: { working: Number.NaN } } },
    /defaultTtl.working: .* milliseconds/,
  ],
  [
    managerOptionsSchema,
    { policies: { quotas: { working: '1GB' } } },
    /quotas.working: must be a number of bytes/,
  ],
] as const)('says what a time or a size has to be', (schema, given, message) => {
  expect(() => parseInput(schema as typeof managerOptionsSchema, given, 'given')).toThrow(message)
})

it('names an option that does not exist', () => {
  const misspelled = { stores: createInMemoryStore(), redaction: 'reject' }
  expect(problems(() => createMemoryManager(misspelled))).toMatchObject([
    { path: 'options', message: 'Unrecognized key: "redaction"' },
  ])
  expect(problems(() => createMemoryManager(undefined as never))).toMatchObject([{ path: 'options' }])
  expect(JSON.stringify(problems(() => parseInput(writeOptionsSchema, { ttll: 5 }, 'options')))).toContain(
    'ttll',
  )
})

it('asks for a list where an instance of a class is given for one', async () => {
  const memory = createMemoryManager({ stores: createInMemoryStore() })
  await expect(memory.batchRead('working', new Set(['key']) as never)).rejects.toThrow('keys: must be a list')
  await expect(memory.search('working', new Map() as never)).rejects.toThrow('query: must be a plain object')
})

it('gives back what is right', () => {
  const given = { ttl: Number.POSITIVE_INFINITY, tags: ['a'], overwrite: false }
  expect(parseInput(writeOptionsSchema, given, 'options')).toEqual(given)
})

it('tells the first of many problems in its message, and all to a program', () => {
  const error = invalidInput(
    'writes',
    Array.from({ length: 1000 }, (_, i) => ({ path: [i, 'key'], message: 'is empty' })),
  )
  expect(error.message).toBe(
    'writes.0.key: is empty; writes.1.key: is empty; writes.2.key: is empty; writes.3.key: is empty; writes.4.key: is empty; and 995 more',
  )
  expect(error.details?.issues).toHaveLength(1000)
})

it('repeats no secret that names a member', () => {
  const token = ['gh', 'p_', 'aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY2zA4'].join('')
  const error = invalidInput('value', [{ path: ['list', 0, token], message: `Unrecognized key: "${token}"` }])
  expect(JSON.stringify([error.message, error.details])).not.toContain(token)
  expect(error.message).toContain('value.list.0.')
})
