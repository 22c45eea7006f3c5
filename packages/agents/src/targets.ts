import { MemoryError, MemoryErrorCode } from '@recall/core'
import { aiderTarget } from './aider/target.ts'
import { claudeCodeTarget } from './claude-code/target.ts'
import { codexTarget } from './codex/target.ts'
import { copilotTarget } from './copilot/target.ts'
import { cursorTarget } from './cursor/target.ts'
import { geminiTarget } from './gemini/target.ts'
import { genericTarget } from './generic/target.ts'
import type { Target } from './install/target.ts'
import { isRecord } from './json.ts'
import { opencodeTarget } from './opencode/target.ts'
import { windsurfTarget } from './windsurf/target.ts'

/** The hosts that Recall can be wired into. */
export const targets: readonly Target[] = [
  claudeCodeTarget,
  codexTarget,
  cursorTarget,
  windsurfTarget,
  aiderTarget,
  geminiTarget,
  copilotTarget,
  opencodeTarget,
  genericTarget,
]

/**
 * Checks the `target` that a custom module exports.
 *
 * @throws MemoryError INVALID_INPUT naming what is wrong with it
 */
export function asTarget(value: unknown, from: string): Target {
  const problem = !isRecord(value)
    ? 'it exports no `target`'
    : typeof value.name !== 'string' || !/^[a-z0-9][a-z0-9-]*$/.test(value.name)
      ? '`name` must be lower-case letters, digits and hyphens'
      : typeof value.edits !== 'function'
        ? '`edits` must be a function'
        : targets.some(({ name }) => name === value.name)
          ? `'${value.name}' is the name of a built-in target`
          : undefined
  if (problem) {
    throw new MemoryError(
      `${from} is not a target: ${problem} (see docs/hosts.md)`,
      MemoryErrorCode.INVALID_INPUT,
    )
  }
  const { name, title = name, isInstalled = () => true, edits, notes } = value as unknown as Target
  return { name, title, isInstalled, edits, ...(notes ? { notes } : {}) }
}
