import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { ValueSchema, ValueSchemas } from '../schemas.ts'
import type { MemoryScope } from '../scope.ts'
import { invalidInput } from './parse-input.ts'

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

/** The result of the key's schema for a value; `undefined` when the key has no schema. */
function answerOf(schemas: ValueSchemas, scope: MemoryScope, key: string, value: unknown) {
  try {
    return schemaFor(schemas, scope, key)?.safeParse(value)
  } catch (cause) {
    throw new MemoryError(
      `the schema of '${key}' throws instead of answering (it must not be asynchronous): ${(cause as Error).message}`,
      MemoryErrorCode.INVALID_INPUT,
      { scope, key, cause },
    )
  }
}

/** @throws MemoryError INVALID_INPUT when the value about to be written does not match the key's schema */
export function checkWritten(
  schemas: ValueSchemas,
  scope: MemoryScope,
  key: string,
  value: unknown,
): unknown {
  const result = answerOf(schemas, scope, key, value)
  if (!result) return value
  if (result.success) return result.data
  // In a batch, only the key shows which value is wrong.
  throw invalidInput('value', result.error.issues, { scope, key })
}

/**
 * Checks a value after its schema and the redaction of secrets have changed it. Every read checks it again, so an
 * invalid value would make all reads of its key and all searches of its scope fail.
 *
 * @throws MemoryError INVALID_INPUT
 */
export function checkKept(schemas: ValueSchemas, scope: MemoryScope, key: string, value: unknown): void {
  const result = answerOf(schemas, scope, key, value)
  if (!result || result.success) return
  const { message, details = {} } = invalidInput('value', result.error.issues)
  throw new MemoryError(
    `the value no longer matches its schema once the schema has changed it and secrets are replaced: ${message}`,
    MemoryErrorCode.INVALID_INPUT,
    { scope, key, details },
  )
}

/** @throws MemoryError CORRUPTION when the stored value does not match the key's schema */
export function checkRead(schemas: ValueSchemas, scope: MemoryScope, key: string, value: unknown): unknown {
  const result = answerOf(schemas, scope, key, value)
  if (!result) return value
  if (result.success) return result.data
  const problem = invalidInput('value', result.error.issues)
  throw new MemoryError(
    `what is stored under '${key}' does not match its schema: ${problem.message}`,
    MemoryErrorCode.CORRUPTION,
    { scope, key, details: problem.details ?? {} },
  )
}
