import { createHash } from 'node:crypto'
import type { ConversationArchive, SessionSummary } from '@recall/core'

/** What a storm child reports. A key of `begun` may or may not have changed; everything else must have. */
export type Report =
  | { done: 'note'; key: string; value: string }
  | { done: 'hot'; key: string; n: number }
  | { done: 'pair'; key: string; n: number }
  | { done: 'section'; key: string; n: number }
  | { done: 'archive'; id: string }
  | { begun: 'delete'; key: string }
  | { done: 'delete'; key: string }

/** A text that says its number and proves that it is whole. */
export function sealedText(n: number, length: number): string {
  const text = `number ${n} ${'lorem ipsum '.repeat(Math.ceil(length / 12)).slice(0, length)}`
  return `${text}\nsum ${createHash('sha256').update(text).digest('hex')}`
}

/** The number of a text that is whole; throws when it is torn. */
export function openSealed(value: unknown): number {
  const [, text = '', sum] = /^([\s\S]*)\nsum (\w+)$/.exec(String(value)) ?? []
  if (createHash('sha256').update(text).digest('hex') !== sum)
    throw new Error(`torn: ${String(value).slice(0, 80)}`)
  return Number(/^number (\d+)/.exec(text)?.[1])
}

export const archiveOf = (id: string, n: number): ConversationArchive => ({
  date: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
  sessionId: id,
  messageCount: n,
  duration: '1m',
  source: 'session',
  topics: ['storm'],
  body: `## Summary\n\n${sealedText(n, 600)}\n`,
})

export const summaryOf = (id: string, n: number): SessionSummary => ({
  sessionId: id,
  date: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
  duration: '1m',
  messageCount: n,
  summary: sealedText(n, 80),
  archive: `conversation:${id}`,
})
