import { expect } from 'vitest'
import * as z from 'zod/mini'
import { refused } from './expectations.ts'
import { law, type Theme } from './harness.ts'

const options = {
  schemas: {
    'long-term': { 'lesson:*': z.object({ text: z.string() }), goal: z.object({ name: z.string() }) },
  },
}

export const schemas: Theme = {
  title: 'Schemas',
  laws: [
    law(
      'A value that does not match the schema of its key is refused and nothing is stored.',
      async ({ memory }) => {
        await memory.write('long-term', 'goal', { name: 'ship' })
        await refused('INVALID_INPUT', () => memory.write('long-term', 'goal', { name: 7 }))
        await refused('INVALID_INPUT', () => memory.write('long-term', 'lesson:1', 'text'))
        await refused('INVALID_INPUT', () => memory.batchWrite('long-term', [{ key: 'lesson:1', value: {} }]))
        expect(await memory.read('long-term', 'goal')).toEqual({ name: 'ship' })
        expect(await memory.exists('long-term', 'lesson:1')).toBe(false)
      },
      options,
    ),

    law(
      'A schema holds for its scope and its keys alone.',
      async ({ memory }) => {
        await memory.write('working', 'goal', 7)
        await memory.write('long-term', 'goals', 7)
        await memory.write('long-term', 'lesson:1', { text: 'measure first' })
        expect(await memory.read('working', 'goal')).toBe(7)
        expect(await memory.read('long-term', 'lesson:1')).toEqual({ text: 'measure first' })
      },
      options,
    ),

    law(
      'A value that redaction makes unfit for its schema is refused at the write, not found corrupt by a read.',
      async ({ memory }) => {
        const login = { password: 'hunter2hunter2' }
        await refused('INVALID_INPUT', () => memory.write('long-term', 'login', login))
        expect(await memory.exists('long-term', 'login')).toBe(false)
      },
      { schemas: { 'long-term': { login: z.object({ password: z.string().check(z.maxLength(16)) }) } } },
    ),

    law(
      'What is stored and does not match its schema reads as corruption, not as a value.',
      async ({ memory, reopen }) => {
        await memory.write('long-term', 'goal', { name: 'ship' })
        const careless = await reopen({ schemas: {} })
        await careless.write('long-term', 'goal', { title: 'ship' })
        await refused('CORRUPTION', () => memory.read('long-term', 'goal'))
        await refused('CORRUPTION', () => memory.batchRead('long-term', ['goal']))
        await refused('CORRUPTION', () => memory.search('long-term', {}))
        expect(await memory.exists('long-term', 'goal')).toBe(true)
      },
      options,
    ),
  ],
}
