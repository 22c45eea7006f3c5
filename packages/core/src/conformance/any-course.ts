import fc from 'fast-check'
import { expect } from 'vitest'
import { isMemoryError } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import type { MemoryManager, MemoryMatch } from '../memory-manager.ts'
import { memoryScopes } from '../scope.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { anyCall, anyTextQuery, type Call } from './any-call.ts'
import { createConceptEmbedder } from './concept-embedder.ts'
import { type HandleOptions, law, type Theme } from './harness.ts'

const options: Partial<HandleOptions> = {
  encryptionKey: new Uint8Array(32).fill(1),
  policies: { quotas: { working: 200, 'short-term': 200 } },
}

/** What a call answers, or the code of its refusal. */
const answerOf = (memory: MemoryManager, { make }: Call, now: number): Promise<unknown> =>
  make(memory, now).catch((error: unknown) => (isMemoryError(error) ? error.code : error))

export const anyCourse: Theme = {
  title: 'Any course of calls',
  laws: [
    law(
      'Whatever was called before, every call answers what it answers on the in-memory store.',
      async ({ memory, time }) => {
        const archive = memory.capabilities.episodic.archive === true
        const course = fc.array(anyCall, { minLength: 10, maxLength: 40, size: 'max' })
        await fc.assert(
          fc.asyncProperty(course, async (calls) => {
            for (const scope of memoryScopes) await memory.clear(scope)
            const model = createMemoryManager({
              stores: createInMemoryStore({ archive }),
              namespace: memory.namespace,
              clock: time.clock,
              ...options,
            })
            for (const call of calls) {
              time.advance(call.wait)
              const now = time.clock()
              expect(await answerOf(memory, call, now)).toEqual(await answerOf(model, call, now))
            }
          }),
          { numRuns: 20 },
        )
      },
      options,
    ),

    law(
      'Whatever was called before, a text finds nothing, by words or by meaning, that its query without it does not list.',
      async ({ memory, time, reopen }) => {
        const both = [memory, await reopen({ namespace: 'somebody-else' })]
        const whose = fc.constantFrom(...both)
        const course = fc.array(fc.tuple(whose, anyCall), { minLength: 4, maxLength: 12, size: 'max' })
        await fc.assert(
          fc.asyncProperty(course, anyTextQuery, async (calls, { scope, text, rest }) => {
            for (const each of both) await each.clear(scope)
            for (const [each, call] of calls) {
              time.advance(call.wait)
              await answerOf(each, call, time.clock())
            }
            const everything = { limit: 1000, touch: false }
            for (const each of both) {
              const listed = await each.search(scope, rest, everything)
              const found = await each.search(scope, { ...rest, text }, everything)
              const entryOf = ({ key, value, metadata }: MemoryMatch<unknown>) => ({ key, value, metadata })
              expect(listed.map(entryOf)).toEqual(expect.arrayContaining(found.map(entryOf)))
            }
          }),
          { numRuns: 15 },
        )
      },
      { ...options, embedder: createConceptEmbedder() },
    ),
  ],
}
