import { join } from 'node:path'
import { copilotFolder } from '../copilot/target.ts'
import { opencodeDatabases } from '../opencode/databases.ts'
import type { HookInput } from './hook-input.ts'

/** Path of a session's transcript, also for hosts that do not report it; `undefined` when it cannot be known. */
export function transcriptOf(
  input: HookInput,
  machine: { home: string; env: Readonly<Record<string, string | undefined>> },
): string | undefined {
  // Gemini CLI names a new file then, leaves it empty, and continues with the session's existing one.
  if (input.host === 'gemini' && input.source === 'resume') return undefined
  if (input.transcriptPath !== undefined) return input.transcriptPath
  // An id with path separators, or `..`, would lead out of the folder.
  if (!/^[\w.-]+$/.test(input.sessionId) || /^\.+$/.test(input.sessionId)) return undefined
  if (input.host === 'copilot') {
    return join(copilotFolder(machine), 'session-state', input.sessionId, 'events.jsonl')
  }
  if (input.host !== 'opencode') return undefined
  const [database] = opencodeDatabases(machine)
  return database === undefined ? undefined : `${database}#${input.sessionId}`
}
