import type { HookInput, Host } from './hook-input.ts'

/**
 * How much text a host takes into its context, in the unit of `contextLength`; it moves longer text to a file or drops
 * it.
 */
export const contextLimits: Readonly<Record<Host, number>> = {
  claude: 10_000,
  codex: 7000,
  cursor: 10_000,
  gemini: 10_000,
  copilot: 10_000,
  opencode: 10_000,
  generic: 10_000,
}

/**
 * How much of a host's limit a text uses: its characters. Codex counts 2,500 tokens of four bytes each: that is 7000
 * characters, with a margin for names and code, and fewer characters in other scripts than Latin.
 */
export const contextLength = (host: Host, text: string): number =>
  host === 'codex' ? Math.max(text.length, Math.ceil(0.7 * Buffer.byteLength(text))) : text.length

/** Hosts that expect one JSON value from every hook, even from one with nothing to say. */
const wantsJson: ReadonlySet<Host> = new Set(['cursor', 'gemini', 'copilot'])

/** Hosts that show the person what a hook wants to tell them; the others refuse unknown members. */
const showsNotices: ReadonlySet<Host> = new Set(['claude', 'codex', 'gemini'])

/** Hosts that store what was told at a start in none of the session's messages: a resumed session no longer has it. */
const losesContext: ReadonlySet<Host> = new Set(['copilot'])

/** Whether a session that starts still has what it was told at an earlier start. */
export const isToldAlready = ({ host, source }: HookInput): boolean =>
  (source === 'resume' || source === 'fork') && !losesContext.has(host)

/** Hosts that keep what is told with a prompt, and lose what is told at a start. */
const toldWithPrompts: ReadonlySet<Host> = new Set(['gemini'])

/**
 * Whether a session is told with its first prompt; only the note of a session, which names its transcript, can tell.
 */
export const isToldWithPrompt = ({ host, transcriptPath }: HookInput): boolean =>
  toldWithPrompts.has(host) && transcriptPath !== undefined

/** What a hook prints when it has nothing to say. */
export const silence = (host: Host): string => (wantsJson.has(host) ? '{}\n' : '')

/**
 * What a hook prints so that the host adds a text to the agent's context.
 *
 * @param context may be empty: then the notice alone is shown
 * @param notice for the person; only some hosts show it
 */
export function contextOutput({ host, eventName }: HookInput, context: string, notice?: string): string {
  const shown = showsNotices.has(host) && notice ? { systemMessage: notice } : {}
  if (context === '') return 'systemMessage' in shown ? `${JSON.stringify(shown)}\n` : silence(host)
  switch (host) {
    case 'claude':
    case 'codex':
    case 'gemini': {
      const hookSpecificOutput = { hookEventName: eventName, additionalContext: context }
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
