import type { HookInput, Host } from './hook-input.ts'

/** How many characters a host takes into its context; what is longer it moves to a file or drops. */
export const contextLimits: Readonly<Record<Host, number>> = {
  claude: 10_000,
  // 2,500 tokens.
  codex: 7000,
  cursor: 10_000,
  gemini: 10_000,
  copilot: 10_000,
  opencode: 10_000,
  generic: 10_000,
}

/** Hosts that want one JSON value from every hook, also from one that has nothing to say. */
const wantsJson: ReadonlySet<Host> = new Set(['cursor', 'gemini', 'copilot'])

/** What a hook prints that has nothing to say. */
export const silence = (host: Host): string => (wantsJson.has(host) ? '{}\n' : '')

/**
 * What a hook prints so that the host takes a text into the agent's context.
 *
 * @param notice for the person, where the host shows one
 */
export function contextOutput({ host, eventName }: HookInput, context: string, notice?: string): string {
  switch (host) {
    case 'claude':
    case 'codex':
    case 'gemini': {
      const hookSpecificOutput = { hookEventName: eventName, additionalContext: context }
      // Others refuse members that they do not know.
      const shown = host === 'claude' && notice ? { systemMessage: notice } : {}
      return `${JSON.stringify({ hookSpecificOutput, ...shown })}\n`
    }
    case 'cursor':
      return `${JSON.stringify({ additional_context: context })}\n`
    case 'copilot':
      return `${JSON.stringify({ additionalContext: context })}\n`
    case 'opencode':
    case 'generic':
      return `${context}\n`
  }
}
