import { MemoryError, MemoryErrorCode } from './errors.ts'
import { invalidInput } from './inputs.ts'
import type { ValueTypes } from './memory-manager.ts'
import type { MemoryScope } from './scope.ts'

/** Anything that validates like zod: zod itself, zod/mini, or ten lines of one's own. */
export interface ValueSchema<T = unknown> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: SchemaIssue[] } }
}

/** What a schema has against a value, and where. */
export interface SchemaIssue {
  path: PropertyKey[]
  message: string
}

/**
 * Schemas by scope and key. A name that ends in `*` covers every key with that prefix; the longest match wins. Values
 * of these keys are checked as well, but TypeScript knows the types of whole keys only.
 */
export type ValueSchemas = { [Scope in MemoryScope]?: Record<string, ValueSchema> }

/** The value types that a set of schemas promises. */
export type TypesOf<Schemas extends ValueSchemas> = {
  [Scope in keyof Schemas & MemoryScope]: {
    [Key in keyof Schemas[Scope]]: Schemas[Scope][Key] extends ValueSchema<infer T> ? T : never
  }
} & ValueTypes

function schemaFor(schemas: ValueSchemas, scope: MemoryScope, key: string): ValueSchema | undefined {
  const ofScope = schemas[scope]
  if (!ofScope) return undefined
  if (Object.hasOwn(ofScope, key)) return ofScope[key]
  const patterns = Object.keys(ofScope).filter(
    (name) => name.endsWith('*') && key.startsWith(name.slice(0, -1)),
  )
  const longest = patterns.sort((a, b) => b.length - a.length)[0]
  return longest === undefined ? undefined : ofScope[longest]
}

/** @throws MemoryError INVALID_INPUT when the value about to be written does not match the key's schema */
export function checkWritten(
  schemas: ValueSchemas,
  scope: MemoryScope,
  key: string,
  value: unknown,
): unknown {
  const result = schemaFor(schemas, scope, key)?.safeParse(value)
  if (!result) return value
  if (result.success) return result.data
  throw invalidInput('value', result.error.issues)
}

/** @throws MemoryError CORRUPTION when the stored value does not match the key's schema */
export function checkRead(schemas: ValueSchemas, scope: MemoryScope, key: string, value: unknown): unknown {
  const result = schemaFor(schemas, scope, key)?.safeParse(value)
  if (!result) return value
  if (result.success) return result.data
  const problem = invalidInput('value', result.error.issues)
  throw new MemoryError(
    `what is stored under '${key}' does not match its schema: ${problem.message}`,
    MemoryErrorCode.CORRUPTION,
    { scope, key, details: problem.details ?? {} },
  )
}
