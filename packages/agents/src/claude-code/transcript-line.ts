import { isRecord, nonEmptyText } from '../json.ts'

/**
 * The members of a transcript line that the reader relies on. The host changes its format without notice, so every
 * member is checked and any of them may be missing.
 */
export interface TranscriptLine {
  type: string
  subtype?: string
  uuid?: string
  sessionId?: string
  agentId?: string
  timestamp?: unknown
  cwd?: string
  isSidechain: boolean
  /** Injected by the host, not typed. */
  isMeta: boolean
  /** Who wrote a text that no person typed, such as another agent, a channel or a task. */
  otherOrigin?: string
  /** The line holds a summary of earlier turns of the same transcript. */
  isCompactSummary: boolean
  /** An answer that the host wrote itself: an error, or that nothing was requested. */
  isHostAnswer: boolean
  message?: { role?: string; content: unknown }
  /** The whole line, for line types with further members. */
  raw: Record<string, unknown>
}

/** Reads a parsed JSON line; `null` when it is not a transcript line. */
export function toTranscriptLine(value: unknown): TranscriptLine | null {
  if (!isRecord(value) || typeof value.type !== 'string') return null
  const message = isRecord(value.message) ? value.message : undefined
  return {
    type: value.type,
    subtype: nonEmptyText(value.subtype),
    uuid: nonEmptyText(value.uuid),
    sessionId: nonEmptyText(value.sessionId),
    agentId: nonEmptyText(value.agentId),
    timestamp: value.timestamp,
    cwd: nonEmptyText(value.cwd),
    isSidechain: value.isSidechain === true,
    isMeta: [value.isMeta, value.turnCompanion, value.isVisibleInTranscriptOnly].includes(true),
    otherOrigin: otherOriginOf(
      value.origin ?? (isRecord(value.attachment) ? value.attachment.origin : undefined),
    ),
    isCompactSummary: value.isCompactSummary === true,
    isHostAnswer: value.isApiErrorMessage === true || (message !== undefined && isFiller(message)),
    message: message && { role: nonEmptyText(message.role), content: message.content },
    raw: value,
  }
}

/** The host's answer in place of a model that did not answer. A partial answer names the same model. */
const isFiller = ({ model, content }: Record<string, unknown>): boolean =>
  model === '<synthetic>' &&
  Array.isArray(content) &&
  content.every((block) => isRecord(block) && block.text === 'No response requested.')

/** Origins other than a person. An unknown origin is not among them: nothing that was typed may be lost. */
const others = new Set([
  'auto-continuation',
  'channel',
  'coordinator',
  'observer',
  'observer-activity',
  'peer',
  'task-notification',
  'unclassified',
])

function otherOriginOf(origin: unknown): string | undefined {
  const kind = isRecord(origin) ? nonEmptyText(origin.kind) : undefined
  return kind !== undefined && others.has(kind) ? kind : undefined
}

/** Whether a JSON value looks like a line of this host's transcripts. */
export function isClaudeCodeLine(value: unknown): boolean {
  if (!isRecord(value) || typeof value.type !== 'string') return false
  return ['sessionId', 'uuid', 'leafUuid', 'parentUuid', 'messageId'].some(
    (member) => typeof value[member] === 'string',
  )
}
