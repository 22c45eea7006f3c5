import type { MemoryManager } from '@recall/core'

const counted: ReadonlySet<string | symbol> = new Set<keyof MemoryManager>(['read', 'search', 'write'])

/** The same memory. Once its first calls have been answered, and no other is waiting, something is done. */
export function afterFirstCalls(memory: MemoryManager, next: () => void): MemoryManager {
  let waiting = 0
  let isDone = false
  const goOn = (): void => {
    if (isDone || waiting > 0) return
    isDone = true
    next()
  }
  return new Proxy(memory, {
    get(target, name, receiver) {
      const member: unknown = Reflect.get(target, name, receiver)
      if (isDone || !counted.has(name) || typeof member !== 'function') return member
      return async (...given: unknown[]) => {
        waiting++
        try {
          return await member.apply(target, given)
        } finally {
          waiting--
          // The caller makes its answer of the result first.
          setImmediate(goOn)
        }
      }
    },
  })
}
