import { MemoryError, MemoryErrorCode, type MemoryErrorContext } from '../errors.ts'
import { invalidInput } from '../parse-input.ts'
import type { SchemaIssue, ValueSchema, ValueSchemas } from '../schemas.ts'
import type { MemoryScope } from '../scope.ts'

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

type Answer = ReturnType<ValueSchema['safeParse']>

/**
 * The result of the key's schema for a value; `undefined` when the key has no schema.
 *
 * @throws MemoryError INVALID_INPUT when the schema throws, or does not answer: the value would go unchecked
 */
function answerOf(schemas: ValueSchemas, scope: MemoryScope, key: string, value: unknown) {
  const schema = schemaFor(schemas, scope, key)
  if (!schema) return undefined
  let answer: Partial<Answer> | null | undefined
  try {
    answer = schema.safeParse(value)
  } catch (cause) {
    throw wrongSchema(
      `the schema of '${key}' throws instead of answering (it must not be asynchronous): ${(cause as Error)?.message}`,
      { scope, key, cause },
    )
  }
  if (isAnswer(answer)) return answer
  throw wrongSchema(
    `the schema of '${key}' answers neither { success: true, data } nor { success: false, error: { issues: [{ path, message }] } } (it must not be asynchronous)`,
    { scope, key },
  )
}

const isAnswer = (answer: Partial<Answer> | null | undefined): answer is Answer =>
  answer?.success === true ||
  (answer?.success === false && Array.isArray(answer.error?.issues) && answer.error.issues.every(isIssue))

const isIssue = (issue: Partial<SchemaIssue> | null): boolean =>
  Array.isArray(issue?.path) && typeof issue.message === 'string'

const wrongSchema = (message: string, context: MemoryErrorContext): MemoryError =>
  new MemoryError(message, MemoryErrorCode.INVALID_INPUT, context)

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
