import { isRecord, parseJson } from '../json.ts'
import { dialects, type Host } from './dialects.ts'

/** What a host reports about an event, in a form common to all hosts. */
export interface HookInput {
  host: Host
  sessionId: string
  /** The host's own name of the event. */
  eventName?: string
  transcriptPath?: string
  cwd?: string
  /** Why a session starts: `startup`, `resume`, `clear`, `compact` or `fork`. */
  source?: string
  /** What was typed, without what a host puts around it; empty if nothing was typed. */
  prompt?: string
  compactSummary?: string
}

/**
 * Reads the JSON that a host passes to its hooks. The host is recognised by the JSON itself, so that one command line
 * serves hosts that read each other's hook files.
 *
 * @returns `null` when the text is not a JSON object or names no session
 */
export function parseHookInput(text: string): HookInput | null {
  // Windows shells put a byte order mark before piped text.
  const payload = parseJson(text.replace(/^\uFEFF/, ''))
  if (!isRecord(payload)) return null
  const string = (...names: string[]): string | undefined =>
    names
      .map((name) => payload[name])
      .find((value): value is string => typeof value === 'string' && value !== '')
  const sessionId = string('session_id', 'sessionId', 'conversation_id')
  if (sessionId === undefined) return null
  const host = hostOf(payload)
  const prompt = string('prompt')
  const roots = payload.workspace_roots
  const fields = {
    eventName: string('hook_event_name', 'hookEventName'),
    transcriptPath: string('transcript_path', 'transcriptPath'),
    cwd: string('cwd') ?? (Array.isArray(roots) && typeof roots[0] === 'string' ? roots[0] : undefined),
    source: string('source'),
    prompt: prompt && (dialects[host].typedIn?.(prompt) ?? prompt),
    compactSummary: string('compact_summary'),
  }
  return { host, sessionId, ...defined(fields) }
}

function hostOf(payload: Record<string, unknown>): Host {
  const path = typeof payload.transcript_path === 'string' ? payload.transcript_path : ''
  if (payload.host === 'opencode') return 'opencode'
  if ('cursor_version' in payload || 'conversation_id' in payload) return 'cursor'
  if ('sessionId' in payload) return 'copilot'
  if ('turn_id' in payload || /[\\/]rollout-[^\\/]*\.jsonl$/.test(path)) return 'codex'
  if ('timestamp' in payload && 'hook_event_name' in payload) return 'gemini'
  return 'hook_event_name' in payload ? 'claude' : 'generic'
}

function defined<T extends Record<string, string | undefined>>(fields: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: string
  }
}
