import type { CallToolResult } from '@modelcontextprotocol/server'
import { fenceRecalled, isMemoryError, MemoryErrorCode, type RedactionCounts, redactText } from '@recall/core'

type Structure = Record<string, unknown>

/** A tool's result: a structure, and the same as JSON text. */
export const answer = (structuredContent: Structure): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
  structuredContent,
})

/** A text from memory in a structure. */
export class Recalled {
  readonly text: string
  readonly source: string

  /** @param source where it came from */
  constructor(text: string, source: string) {
    this.text = text
    this.source = source
  }

  toJSON(): string {
    return this.text
  }
}

/** The structure of a result, in which `Recalled` may replace any text. */
export type Recalling<T> = T extends string
  ? T | Recalled
  : T extends object
    ? { [Name in keyof T]: Recalling<T[Name]> }
    : T

/**
 * A result with texts from memory. Each is fenced in the structure, and the JSON text is fenced as a whole, so that an
 * agent never reads one mark within another.
 */
export const answerFrom = (source: string, structure: Structure): CallToolResult => ({
  content: [{ type: 'text', text: fenceRecalled(JSON.stringify(structure), source) }],
  structuredContent: fenced(structure) as Structure,
})

function fenced(value: unknown): unknown {
  if (value instanceof Recalled) return fenceRecalled(value.text, value.source)
  if (Array.isArray(value)) return value.map(fenced)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, fenced(member)]))
}

/** Notices to an agent about secrets in its input, by kind. */
export const secretsReplaced = (counts: RedactionCounts, before: string): string[] =>
  Object.keys(counts).map((kind) => `a secret was replaced before anything was ${before}: ${kind}`)

type Remedies = Partial<Record<MemoryErrorCode, string>>

/**
 * Runs a tool. A `MemoryError` becomes a result that tells the model what to do next.
 *
 * @param own remedies of this tool that replace the common ones
 */
export async function orFailure(
  call: () => Promise<CallToolResult>,
  own: Remedies = {},
): Promise<CallToolResult> {
  try {
    return await call()
  } catch (error) {
    if (!isMemoryError(error)) throw error
    const text = `${error.message}. ${own[error.code] ?? remedies[error.code] ?? 'Try again, or go on without memory.'}`
    return { isError: true, content: [{ type: 'text', text }] }
  }
}

const remedies: Remedies = {
  [MemoryErrorCode.INVALID_INPUT]: 'Change the arguments and call the tool again.',
  [MemoryErrorCode.NOT_FOUND]: 'Use memory_search to find keys that exist.',
  [MemoryErrorCode.QUOTA_EXCEEDED]: 'Memory is full: tell the user.',
  [MemoryErrorCode.RATE_LIMITED]: 'Go on without it, and try later if it still matters.',
  [MemoryErrorCode.UNAUTHENTICATED]: 'The key for the hub is not valid: tell the user.',
  [MemoryErrorCode.CORRUPTION]: 'Only a person can fix that: tell the user, and go on without it.',
  [MemoryErrorCode.NOT_SUPPORTED]: 'This memory cannot do that here: tell the user, and go on without it.',
  [MemoryErrorCode.FORBIDDEN]: 'This is not allowed: tell the user.',
}

/**
 * A text from memory as a tool may return it: what an agent reads goes to the provider of its model, and a person may
 * have typed a secret into a file. Call it before cutting the text, which could leave half of a secret that nothing
 * recognises.
 */
export const withoutSecrets = (text: string): string => redactText(text).text
