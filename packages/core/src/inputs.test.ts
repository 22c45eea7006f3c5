import { expect, it } from 'vitest'
import { isMemoryError } from './errors.ts'
import { parseInput, searchOptionsSchema, writeOptionsSchema } from './inputs.ts'

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

it('names an option that does not exist', () => {
  expect(JSON.stringify(problems(() => parseInput(writeOptionsSchema, { ttll: 5 }, 'options')))).toContain(
    'ttll',
  )
})

it('gives back what is right', () => {
  const given = { ttl: Number.POSITIVE_INFINITY, tags: ['a'], overwrite: false }
  expect(parseInput(writeOptionsSchema, given, 'options')).toEqual(given)
})
