import { dialects, type Host } from './dialects.ts'
import type { HookInput } from './hook-input.ts'

/** How much text a host takes into its context, in the unit of `contextLength`. */
export const contextLimit = (host: Host): number => dialects[host].limit

/** How much of a host's limit a text uses. */
export const contextLength = (host: Host, text: string): number =>
  dialects[host].lengthOf?.(text) ?? text.length

/** Whether a session that starts still has what it was told at an earlier start. */
export const isToldAlready = ({ host, source }: HookInput): boolean =>
  (source === 'resume' || source === 'fork') && !dialects[host].losesContext

/**
 * Whether a session is told with its first prompt; only the note of a session, which names its transcript, can tell.
 */
export const isToldWithPrompt = ({ host, transcriptPath }: HookInput): boolean =>
  dialects[host].isToldWithPrompt === true && transcriptPath !== undefined

/** What a hook prints when it has nothing to say. */
export const silence = (host: Host): string => (dialects[host].wantsJson ? '{}\n' : '')

/**
 * What a hook prints so that the host adds a text to the agent's context.
 *
 * @param context may be empty: then the notice alone is shown
 * @param notice for the person; only some hosts show it
 */
export function contextOutput({ host, eventName }: HookInput, context: string, notice?: string): string {
  const { showsNotices, told } = dialects[host]
  const shown = showsNotices && notice ? { systemMessage: notice } : {}
  if (context === '') return 'systemMessage' in shown ? `${JSON.stringify(shown)}\n` : silence(host)
  return told === undefined
    ? `${context}\n`
    : `${JSON.stringify({ ...told(context, eventName), ...shown })}\n`
}
