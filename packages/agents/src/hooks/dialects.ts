import { join } from 'node:path'
import { separateMarkup } from '../claude-code/separate-markup.ts'
import { requestIn } from '../codex/request-in-text.ts'
import { copilotFolder } from '../copilot/folder.ts'
import { withoutHookContext } from '../gemini/hook-context.ts'
import type { Surroundings } from '../install/target.ts'
import { opencodeDatabases } from '../opencode/databases.ts'

export type Host = 'claude' | 'codex' | 'cursor' | 'gemini' | 'copilot' | 'opencode' | 'generic'

/** What a host passes to its hooks, and what it expects of them. */
export interface HookDialect {
  /**
   * How much text the host takes into its context, in the unit of `lengthOf`; it moves longer text to a file or drops
   * it.
   */
  limit: number
  /** How much of the limit a text uses. Default: its characters. */
  lengthOf?(text: string): number
  /** What was typed, of the prompt that the host reports. Default: all of it. */
  typedIn?(prompt: string): string
  /** What a hook prints as JSON so that a text gets into the context. Default: it prints the text itself. */
  told?(context: string, eventName: string | undefined): object
  /** Every hook must print one JSON value, even one with nothing to say. */
  wantsJson?: true
  /** The person is shown what a hook wants to tell them; other hosts refuse unknown members. */
  showsNotices?: true
  /** What was told at a start is in none of the session's messages: a resumed session no longer has it. */
  losesContext?: true
  /** What is told with a prompt is kept, and what is told at a start is lost. */
  isToldWithPrompt?: true
  /** A resumed session is reported with a new file, which stays empty: the session goes on in its existing one. */
  misnamesResumed?: true
  /** The transcript of a session for which the host reports none. */
  transcriptOf?(sessionId: string, machine: Pick<Surroundings, 'env' | 'home'>): string | undefined
}

const hookSpecific = (context: string, eventName: string | undefined): object => ({
  hookSpecificOutput: { hookEventName: eventName, additionalContext: context },
})

export const dialects: Readonly<Record<Host, HookDialect>> = {
  claude: {
    limit: 10_000,
    typedIn: (prompt) => separateMarkup(prompt).said,
    told: hookSpecific,
    showsNotices: true,
  },
  codex: {
    // It counts 2,500 tokens of four bytes each: that is 7000 characters, with a margin for names and code, and fewer
    // characters in other scripts than Latin.
    limit: 7000,
    lengthOf: (text) => Math.max(text.length, Math.ceil(0.7 * Buffer.byteLength(text))),
    typedIn: requestIn,
    told: hookSpecific,
    showsNotices: true,
  },
  cursor: {
    limit: 10_000,
    told: (context) => ({ additional_context: context }),
    wantsJson: true,
  },
  gemini: {
    limit: 10_000,
    typedIn: withoutHookContext,
    told: hookSpecific,
    wantsJson: true,
    showsNotices: true,
    isToldWithPrompt: true,
    misnamesResumed: true,
  },
  copilot: {
    limit: 10_000,
    told: (context) => ({ additionalContext: context }),
    wantsJson: true,
    losesContext: true,
    transcriptOf: (sessionId, machine) =>
      join(copilotFolder(machine), 'session-state', sessionId, 'events.jsonl'),
  },
  opencode: {
    limit: 10_000,
    transcriptOf(sessionId, machine) {
      const [database] = opencodeDatabases(machine)
      return database === undefined ? undefined : `${database}#${sessionId}`
    },
  },
  generic: { limit: 10_000 },
}
