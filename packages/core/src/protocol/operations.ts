import { checkMemory } from '../front/inputs.ts'
import type { MemoryManager, ValueTypes } from '../memory-manager.ts'
import { withoutKnownSecrets } from '../redaction/redact.ts'
import type { MemoryScope } from '../scope.ts'

const operationNames = [
  'write',
  'read',
  'search',
  'clear',
  'delete',
  'exists',
  'cleanup',
  'restore',
  'batchRead',
  'batchWrite',
  'atomicUpdate',
] as const

export type OperationName = (typeof operationNames)[number]

/** One call of a memory. */
export interface Operation {
  name: OperationName
  namespace: string
  /** Absent when a clean-up covers all scopes. */
  scope?: MemoryScope
  /**
   * Without secrets, even when the memory refuses the key because of them. Absent when the call concerns several
   * entries.
   */
  key?: string
  /** The arguments as given. They may hold private text. */
  arguments: readonly unknown[]
}

/**
 * Runs every operation of a memory through `around`, which must call `run` and return its answer.
 *
 * @throws MemoryError INVALID_INPUT for what is no memory
 */
export function wrapOperations<Schemas extends ValueTypes>(
  memory: MemoryManager<Schemas>,
  around: (operation: Operation, run: () => Promise<unknown>) => Promise<unknown>,
): MemoryManager<Schemas> {
  checkMemory(memory)
  const wrapped = operationNames.map((name) => [
    name,
    (...given: unknown[]) => around(describe(memory, name, given), () => callOf(memory, name)(...given)),
  ])
  return {
    ...(Object.fromEntries(wrapped) as Pick<MemoryManager<Schemas>, OperationName>),
    namespace: memory.namespace,
    get capabilities() {
      return memory.capabilities
    },
    close: () => memory.close(),
    [Symbol.asyncDispose]: () => memory[Symbol.asyncDispose](),
  }
}

const callOf = (memory: object, name: OperationName): ((...given: unknown[]) => Promise<unknown>) => {
  const call = Reflect.get(memory, name) as (...given: unknown[]) => Promise<unknown>
  return (...given) => Reflect.apply(call, memory, given)
}

function describe(
  { namespace }: { namespace: string },
  name: OperationName,
  given: readonly unknown[],
): Operation {
  const [first, second] = given
  const operation = { name, namespace, arguments: given }
  if (name === 'cleanup') {
    const scope = (first as { scope?: MemoryScope } | undefined)?.scope
    return scope === undefined ? operation : { ...operation, scope }
  }
  return {
    ...operation,
    scope: first as MemoryScope,
    ...(typeof second === 'string' ? { key: withoutKnownSecrets(second) } : {}),
  }
}

/** Number of entries in an answer; `undefined` for an operation that returns none. */
export function countOf(name: OperationName, answer: unknown): number | undefined {
  if (name === 'search') return (answer as unknown[]).length
  if (name === 'batchRead') return (answer as Map<string, unknown>).size
  if (name === 'read') return answer === null ? 0 : 1
  return undefined
}
