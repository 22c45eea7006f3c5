import type { ValueTypes } from './memory-manager.ts'
import type { MemoryScope } from './scope.ts'

/** Anything that validates like zod: zod itself, zod/mini, or ten lines of your own. */
export interface ValueSchema<T = unknown> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { issues: SchemaIssue[] } }
}

/** A problem that a schema found in a value, and where. */
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
