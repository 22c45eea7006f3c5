import {
  type Address,
  type ConversationArchive,
  conversationArchive,
  conversationKey,
  conversationType,
  type Entry,
  isConversationKey,
  type JsonValue,
  type SessionSummary,
  sessionSummary,
  sessionSummaryKey,
  sessionSummaryType,
  windowNotesKey,
} from '@recall/core'
import { equalJson } from '@recall/core/json'
import { isSlug, sectionOf } from '../documents/sections.ts'
import { fitsWindow } from '../documents/window.ts'
import { defaultNamespace } from './sources.ts'

/**
 * Which kind of file holds an entry. Sessions and sections have files of their own form; everything else is a
 * note, one file each.
 */
export type Placement =
  | { kind: 'note' }
  | { kind: 'section'; fileName: string; slug: string }
  | { kind: 'session'; session: SessionSummary }
  | { kind: 'archive'; archive: ConversationArchive }

export function placementOf(entry: Entry): Placement {
  if (entry.namespace !== defaultNamespace || entry.ttl !== null) return { kind: 'note' }
  const section = entry.scope === 'long-term' ? sectionOf(entry.key) : null
  if (section && isSlug(section.slug)) return { kind: 'section', ...section }
  if (entry.scope === 'short-term' && entry.type === sessionSummaryType) {
    const session = sessionSummary.safeParse(entry.value)
    if (
      session.success &&
      entry.key === sessionSummaryKey(session.data.sessionId) &&
      fitsWindow(session.data) &&
      isAll(entry, session.data, [])
    ) {
      return { kind: 'session', session: session.data }
    }
  }
  if (entry.scope === 'episodic' && entry.type === conversationType) {
    const archive = conversationArchive.safeParse(entry.value)
    if (
      archive.success &&
      entry.key === conversationKey(archive.data.sessionId, archive.data.part) &&
      // A text file cannot hold half a character; a note spells it out.
      archive.data.body.isWellFormed() &&
      isAll(entry, archive.data, archive.data.topics)
    ) {
      return { kind: 'archive', archive: archive.data }
    }
  }
  return { kind: 'note' }
}

/** Whether a record holds everything in an entry: what its file has no place for would be lost. */
const isAll = ({ value, tags }: Entry, record: object, kept: readonly string[]): boolean =>
  equalJson(record as JsonValue, value) && tags.every((tag) => kept.includes(tag))

/** Where an entry of this key may be, other than in a note. */
export function specialPlace({ scope, namespace, key }: Address): 'section' | 'window' | 'archive' | null {
  if (namespace !== defaultNamespace) return null
  if (scope === 'long-term' && sectionOf(key)) return 'section'
  if (scope === 'short-term' && (key.startsWith('session:') || key === windowNotesKey)) return 'window'
  if (scope === 'episodic' && isConversationKey(key)) return 'archive'
  return null
}
