import type * as z from 'zod/mini'
import en from 'zod/v4/locales/en.js'
import { MemoryError, MemoryErrorCode, type MemoryErrorContext } from './errors.ts'
import { isJsonObject } from './json.ts'
import { withoutKnownSecrets } from './redaction/redact.ts'

// zod/mini has no messages of its own; importing this one locale keeps the other forty from loading.
const english = en().localeError

/** @throws MemoryError INVALID_INPUT with every problem and its path */
export function parseInput<T>(schema: z.ZodMiniType<T>, input: unknown, name: string): T {
  // A date, a map or a promise has no members of its own: as a filter, it would match everything.
  if (isInstance(input)) {
    const wanted = schema._zod.def.type === 'array' ? 'a list' : 'a plain object'
    throw invalidInput(name, [{ path: [], message: `must be ${wanted}` }])
  }
  const result = schema.safeParse(input, { error: english })
  if (result.success) return result.data
  throw invalidInput(name, result.error.issues)
}

const isInstance = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && !Array.isArray(input) && !isJsonObject(input)

/** The error that lists every problem of an input with its path, without secrets from member names. */
export function invalidInput(
  name: string,
  issues: readonly { path: readonly PropertyKey[]; message: string }[],
  at: Pick<MemoryErrorContext, 'scope' | 'key'> = {},
): MemoryError {
  // A member's name may be a secret, and it appears in the path and in some messages.
  const problems = issues.map(({ path, message }) => ({
    path: [name, ...path.map((part) => withoutKnownSecrets(String(part)))].join('.'),
    message: withoutKnownSecrets(message),
  }))
  return new MemoryError(problemsInWords(problems), MemoryErrorCode.INVALID_INPUT, {
    ...at,
    details: { issues: problems },
  })
}

/**
 * Refuses unknown options: one is probably misspelt, and ignoring it would hide that.
 *
 * @param others what was given besides the known options
 * @throws MemoryError INVALID_INPUT that names them, worded like the errors of the schemas here
 */
export function refuseUnknownOptions(others: object): void {
  const names = Object.keys(others).map((name) => `"${name}"`)
  if (names.length === 0) return
  const message = `Unrecognized ${names.length === 1 ? 'key' : 'keys'}: ${names.join(', ')}`
  throw invalidInput('options', [{ path: [], message }])
}

/** A batch may be wrong in ten thousand places: the message needs only a few of them. */
const mostTold = 5

/** One line for a message: the first five problems with their paths, and how many more there are. */
export function problemsInWords(problems: readonly { path: string; message: string }[]): string {
  const told = problems
    .slice(0, mostTold)
    .map(({ path, message }) => (path ? `${path}: ${message}` : message))
  const more = problems.length - told.length
  return [...told, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
