import type { MemoryManager } from '../memory-manager.ts'
import { conversationKey, conversationType } from '../session-keys.ts'
import type { ConversationArchive } from '../session-records.ts'

/** Archives a conversation as the session lifecycle does: a summary, then its turns. */
export function writeConversation(
  memory: MemoryManager,
  id: string,
  turns: readonly string[],
  date = '2026-01-01T00:00:00Z',
): Promise<void> {
  const body = turns.map((turn) => `### User\n\n${turn}\n`).join('\n')
  const archive: ConversationArchive = {
    date,
    sessionId: id,
    messageCount: turns.length,
    duration: '5m',
    source: 'session',
    topics: [],
    body: `## Summary\n\nA talk.\n\n## Conversation\n\n${body}`,
  }
  return memory.write('episodic', conversationKey(id), archive, {
    type: conversationType,
    text: archive.body,
  })
}
