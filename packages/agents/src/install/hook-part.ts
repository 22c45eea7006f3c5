import { type HookEvent, hookCommand } from './command-line.ts'
import type { JsonPart } from './json-file.ts'
import type { Wiring } from './target.ts'

/**
 * A hook in a settings file, in the host's form. The hook for prompts is optional: if it is not wanted, one from an
 * earlier installation is removed.
 */
export const hookPart = (
  wiring: Wiring,
  at: readonly string[],
  event: HookEvent,
  form: (command: string) => unknown,
): JsonPart =>
  event === 'prompt' && !wiring.recallPrompts
    ? { at, noHook: true }
    : { at, hook: form(hookCommand(wiring, event)) }
