import fc from 'fast-check'
import { expect } from 'vitest'
import { isMemoryError } from '../errors.ts'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { memoryScopes } from '../scope.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { anyCall, type Call } from './any-call.ts'
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
  ],
}
