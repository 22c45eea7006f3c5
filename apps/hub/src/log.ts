import { isMemoryError } from '@recall/core'

/** Receives log lines about requests and failures. They never hold a key, a query or a memory. */
export type Log = (line: Record<string, unknown>) => void

const mostFrames = 8

export interface LoggedError {
  code?: string
  name: string
  /** Where an unexpected error was thrown, the innermost call first. */
  at?: string[]
}

/** What is logged about an error: not its message, which may repeat what people wrote. */
export function loggedError(error: unknown): LoggedError {
  const { code, name, message, stack = '' } = error as Error & { code?: unknown }
  const begin = stack.lastIndexOf(message)
  const frames = begin === -1 ? [] : stack.slice(begin + message.length).match(/(?<=^\s+at ).+$/gm)
  return {
    ...(typeof code === 'string' ? { code } : {}),
    name,
    ...(isMemoryError(error) || !frames?.length ? {} : { at: frames.slice(0, mostFrames) }),
  }
}
