import type { CallToolResult } from '@modelcontextprotocol/server'
import { fenceRecalled, isMemoryError, MemoryErrorCode, redactText } from '@recall/core'

type Structure = Record<string, unknown>

/** A tool's result: a structure, and the same as JSON text. */
export const answer = (structuredContent: Structure): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(structuredContent) }],
  structuredContent,
})

/** A result that holds texts out of memory, already fenced in the structure: the JSON text is fenced as a whole. */
export const answerFrom = (source: string, structuredContent: Structure): CallToolResult => ({
  content: [{ type: 'text', text: fenceRecalled(JSON.stringify(structuredContent), source) }],
  structuredContent,
})

type Remedies = Partial<Record<MemoryErrorCode, string>>

/**
 * Runs a tool. A `MemoryError` becomes a result that tells the model what to do next.
 *
 * @param own what to do where this tool knows better
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
  [MemoryErrorCode.CORRUPTION]: 'Nobody but a person can mend that: tell the user, and go on without it.',
  [MemoryErrorCode.NOT_SUPPORTED]: 'This memory cannot do that here: tell the user, and go on without it.',
  [MemoryErrorCode.FORBIDDEN]: 'This is not allowed: tell the user.',
}

/**
 * A text out of memory as a tool may give it: what an agent reads goes to the provider of its model, and a person may
 * have typed a secret into a file. Before it is cut, which could leave half of a secret that nothing recognises.
 */
export const withoutSecrets = (text: string): string => redactText(text).text
