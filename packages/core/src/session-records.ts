import * as z from 'zod/mini'

/**
 * The two records that the session lifecycle keeps through a `MemoryManager`. Any store can hold them as
 * plain values; a store that has a better form for them (markdown files) recognises them by their type.
 */

export const conversationArchive = z.object({
  /** Sequence number; the store assigns it when it numbers archives. */
  log: z.optional(z.int().check(z.positive())),
  /** When the conversation ended (or was checkpointed), ISO 8601. */
  date: z.string(),
  sessionId: z.string(),
  messageCount: z.int().check(z.nonnegative()),
  /** For people, for example `30m`. */
  duration: z.string(),
  /** `session` for an ended session, `checkpoint` for one saved before its context was compacted. */
  source: z.enum(['session', 'checkpoint']),
  topics: z.array(z.string()),
  /** Id of the last message: the same id means that nothing new was said. */
  lastMessage: z.optional(z.string()),
  /** What wrote the summary: `algorithm`, or the model's name. */
  summarizedBy: z.optional(z.string()),
  /** Long sessions are archived in parts; absent on the first. */
  part: z.optional(z.int().check(z.positive())),
  project: z.optional(z.string()),
  /** What the host, or the person, called the session; one line. */
  title: z.optional(z.string()),
  /**
   * `fingerprint` of the session's summary in the window, taken when an archive was replaced and the window did not
   * change.
   */
  windowSummary: z.optional(z.string()),
  /** Whether somebody has edited the archive since it was written; set by stores that people can edit. */
  edited: z.optional(z.boolean()),
  /** Markdown from `## Summary` to `## Tags`. */
  body: z.string(),
})
export type ConversationArchive = z.output<typeof conversationArchive>

export const sessionSummary = z.object({
  sessionId: z.string(),
  /** When the session ended, ISO 8601. */
  date: z.string(),
  duration: z.string(),
  messageCount: z.int().check(z.nonnegative()),
  summary: z.string(),
  /** Key of the archive, and its file when the store has one. */
  archive: z.string(),
  /** The folder that the agent worked in, on one line: sessions of several projects may share a window. */
  project: z.optional(z.string()),
})
export type SessionSummary = z.output<typeof sessionSummary>
