import { expectTypeOf } from 'vitest'
import type { MemoryManager } from '../memory-manager.ts'
import { retrieveContext } from './context.ts'
import { runLoop } from './loop.ts'
import type { Goal } from './types.ts'

interface ShopGoal {
  description: string
  shop: string
}

interface ShopLesson {
  category: string
  text: string
  severity: number
}

/** Never run: `tsc` checks it. An interface has no index signature, which a type with one does not accept. */
export async function ownInterfaces(
  memory: MemoryManager,
  goal: ShopGoal,
  learned: ShopLesson,
): Promise<void> {
  await retrieveContext(memory, goal)
  const { reflection } = await runLoop(memory, goal, {
    perceive: (given) => given.goal.shop,
    reason: ({ perception }) => [perception],
    act: ({ decision }) => decision.length,
    observe: ({ execution }) => ({ execution }),
    reflect({ working }) {
      expectTypeOf(working.goal).toEqualTypeOf<ShopGoal>()
      expectTypeOf(working.observation).toEqualTypeOf<{ execution: number }>()
      return { outcome: 'success', lessons: [learned], price: 3 }
    },
  })
  expectTypeOf(reflection.price).toEqualTypeOf<number>()
}

export async function furtherMembers(memory: MemoryManager, goal: Goal): Promise<void> {
  await retrieveContext(memory, { description: 'find the price', shop: 'acme' })
  await runLoop(memory, goal, {
    perceive: (given) => String(given.goal.shop),
    reason: () => 1,
    act: () => 2,
    observe: () => 3,
    reflect: () => ({ outcome: 'failure', lessons: [{ category: 'shop', text: 'closed', severity: 1 }] }),
  })
  // @ts-expect-error a goal is described
  await retrieveContext(memory, { shop: 'acme' })
}
