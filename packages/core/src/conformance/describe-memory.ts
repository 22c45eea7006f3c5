import { describe, it } from 'vitest'
import type { MemoryManager } from '../memory-manager.ts'
import type { Harness, Law } from './harness.ts'
import { themes } from './themes.ts'
import { createTicker } from './ticker.ts'

/** Registers every law of docs/contract.md as a test of the memory that the harness opens. */
export function describeMemory(name: string, harness: Harness): void {
  describe(`${name} memory`, () => {
    for (const theme of themes) {
      describe(theme.title, () => {
        for (const law of theme.laws) it(law.title, () => runLaw(law, harness), 60_000)
      })
    }
  })
}

/** Opens a fresh memory, checks one law on it and closes every handle. */
export async function runLaw(law: Law, harness: Harness): Promise<void> {
  const time = createTicker()
  const opened: MemoryManager[] = []
  const keep = (memory: MemoryManager): MemoryManager => {
    opened.push(memory)
    return harness.between ? pausing(memory, harness.between) : memory
  }
  try {
    const options = { clock: time.clock, ...law.options }
    const memory = keep(await harness.open(options))
    await law.holds({
      memory,
      time,
      reopen: async (other) => keep(await harness.reopen({ ...options, ...other })),
    })
  } finally {
    for (const memory of opened) await memory.close()
    await harness.dispose?.()
  }
}

/** Runs `pause` before each call, except while other calls are under way. Concurrent calls begin in their order. */
function pausing(memory: MemoryManager, pause: () => Promise<void>): MemoryManager {
  let running = 0
  let paused: Promise<void> | undefined
  return new Proxy(memory, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return async (...given: unknown[]) => {
        running++
        try {
          if (running === 1) paused = pause()
          await paused
          return await Reflect.apply(member, target, given)
        } finally {
          running--
        }
      }
    },
  })
}
