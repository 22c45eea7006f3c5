import type { Clock, ConversationArchive, Message } from '@recall/core'
import { clip, oneLine } from './clip.ts'
import type { SpokenTurn } from './condense.ts'
import { createTimeSpan } from './duration.ts'
import { createTagCollector } from './extract-tags.ts'
import { createKeywordCounter } from './keywords.ts'
import { renderArchive, renderTurn } from './render-archive.ts'
import { keywordWeights, type SummarizeOptions, type Summary, summarize } from './summarize.ts'
import { toolTarget } from './tool-target.ts'

/** How much of a turn is remembered for the summary, in characters; the rendered turn is whole. */
const spokenLength = 1000

/** The stretch of a conversation that goes into one archive, gathered message by message. */
export interface ArchivePart {
  readonly messageCount: number
  readonly lastMessage: string | undefined
  /** How many messages there were up to and including this one, or 0 when it is not among them. */
  positionOf(messageId: string): number
  /** False when the message would take the part past its size; an empty part has room for any message. */
  hasRoomFor(message: Message): boolean
  add(message: Message): void
  /** Summarises the part and renders it. `sessionId`, `source` and the like are the caller's. */
  toArchive(
    options: SummarizeOptions & { clock: Clock },
  ): Promise<Pick<ConversationArchive, 'date' | 'duration' | 'topics' | 'summarizedBy' | 'body'>>
}

/**
 * @param size how many characters of turns a part holds
 * @param project the folder below which files are named relatively
 */
export function createArchivePart(size: number, project: () => string | undefined): ArchivePart {
  const turns: string[] = []
  const spoken: SpokenTurn[] = []
  const positions = new Map<string, number>()
  const tags = createTagCollector(project)
  const keywords = createKeywordCounter()
  const span = createTimeSpan()
  let length = 0
  let messageCount = 0
  let lastMessage: string | undefined
  let previousRole: Message['role'] | null = null

  return {
    get messageCount() {
      return messageCount
    },
    get lastMessage() {
      return lastMessage
    },
    positionOf: (messageId) => positions.get(messageId) ?? 0,
    hasRoomFor: (message) => messageCount === 0 || length + renderTurn(message, previousRole).length <= size,
    add(message) {
      messageCount++
      lastMessage = message.id
      positions.set(message.id, messageCount)
      span.add(message.at)
      const turn = renderTurn(message, previousRole)
      if (turn === '') return
      turns.push(turn)
      length += turn.length
      previousRole = message.role
      for (const block of message.content) {
        if (block.type === 'text' && block.text.trim() !== '') {
          spoken.push({
            role: message.role,
            text: clip(oneLine(block.text.slice(0, spokenLength * 2)), spokenLength),
          })
          tags.addText(message.role, block.text)
          keywords.add(block.text, keywordWeights[message.role])
        } else if (block.type === 'tool_use') {
          tags.addToolUse(block.name, block.input)
          keywords.add(toolTarget(block.input), keywordWeights.toolTarget)
        }
      }
    },
    async toArchive({ clock, ...options }) {
      const summary: Summary = await summarize(spoken, { ...options, keywords })
      return {
        date: span.end() ?? new Date(clock()).toISOString(),
        duration: span.duration(),
        topics: summary.topics,
        summarizedBy: summary.summarizedBy,
        body: renderArchive(summary, turns, tags.tags()),
      }
    },
  }
}
