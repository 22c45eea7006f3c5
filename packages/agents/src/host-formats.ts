import type { Conversation } from '@recall/core'
import { listClaudeCodeHelpers } from './claude-code/list-helpers.ts'
import { readClaudeCodeTranscript } from './claude-code/read-transcript.ts'
import { isClaudeCodeLine } from './claude-code/transcript-line.ts'
import { listCodexHelpers } from './codex/list-helpers.ts'
import { listCodexOrigins } from './codex/list-origins.ts'
import { isRolloutLine, readRollout } from './codex/read-rollout.ts'
import { isCopilotEvent, readCopilotEvents } from './copilot/read-events.ts'
import { listCursorHelpers } from './cursor/list-helpers.ts'
import { isCursorLine, readCursorTranscript } from './cursor/read-transcript.ts'
import { listGeminiHelpers } from './gemini/list-helpers.ts'
import { isChatLine, readChatLines } from './gemini/read-chat.ts'
import { listQwenHelpers } from './qwen/list-helpers.ts'
import { isQwenLine, readQwenChat } from './qwen/read-chat.ts'
import { listOrigins } from './reading/forks.ts'
import { readJsonLines } from './reading/read-json-lines.ts'
import type { ReadLinesOptions } from './reading/read-lines.ts'

/** How many lines are checked to recognise a host's own format. */
export const headLines = 200

export interface HostFormat {
  name: string
  /** Whether a JSON line can only come from this host. */
  isLine(value: unknown): boolean
  read(path: string): Promise<Conversation>
  /** The transcripts of the helpers of the session with this id, if they are separate files. */
  listHelpers?(path: string, id: string): Promise<string[]>
  /** The transcripts of sessions that hold what a session was forked from, if that is not read with it. */
  listOrigins?(path: string, options?: ReadLinesOptions): Promise<string[]>
}

export const hostFormats: readonly HostFormat[] = [
  {
    name: 'Claude Code session (JSONL)',
    // Both hosts use the same member names.
    isLine: (value) => isClaudeCodeLine(value) && !isQwenLine(value),
    read: readClaudeCodeTranscript,
    listHelpers: listClaudeCodeHelpers,
    listOrigins,
  },
  {
    name: 'Codex rollout (JSONL)',
    isLine: isRolloutLine,
    read: readRollout,
    listHelpers: listCodexHelpers,
    listOrigins: listCodexOrigins,
  },
  { name: 'Copilot CLI events (JSONL)', isLine: isCopilotEvent, read: readCopilotEvents },
  {
    name: 'Cursor transcript (JSONL)',
    isLine: isCursorLine,
    read: readCursorTranscript,
    listHelpers: listCursorHelpers,
  },
  {
    name: 'Gemini CLI chat (JSON or JSONL)',
    isLine: isChatLine,
    read: readChatLines,
    listHelpers: listGeminiHelpers,
  },
  {
    name: 'Qwen Code chat (JSONL)',
    isLine: isQwenLine,
    read: readQwenChat,
    listHelpers: listQwenHelpers,
    listOrigins,
  },
]

export async function recogniseHost(path: string): Promise<HostFormat | null> {
  for await (const { value } of readJsonLines(path, () => {}, { mostLines: headLines })) {
    const host = hostFormats.find((format) => format.isLine(value))
    if (host !== undefined) return host
  }
  return null
}
