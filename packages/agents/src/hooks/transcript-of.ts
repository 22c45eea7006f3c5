import type { Surroundings } from '../install/target.ts'
import { dialects } from './dialects.ts'
import type { HookInput } from './hook-input.ts'

/** Path of a session's transcript, also for hosts that do not report it; `undefined` when it cannot be known. */
export function transcriptOf(
  { host, source, transcriptPath, sessionId }: HookInput,
  machine: Pick<Surroundings, 'env' | 'home'>,
): string | undefined {
  const dialect = dialects[host]
  if (dialect.misnamesResumed && source === 'resume') return undefined
  if (transcriptPath !== undefined) return transcriptPath
  // An id with path separators, or `..`, would lead out of the folder.
  if (!/^[\w.-]+$/.test(sessionId) || /^\.+$/.test(sessionId)) return undefined
  return dialect.transcriptOf?.(sessionId, machine)
}
