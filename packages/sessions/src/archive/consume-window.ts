import {
  type Clock,
  isMemoryError,
  MemoryErrorCode,
  type MemoryManager,
  refuseUnknownOptions,
  type SessionSummary,
  sessionSummaryKey,
  systemClock,
  windowNotesKey,
} from '@recall/core'
import { fingerprint } from '@recall/core/text'
import { wrongOption } from '../options.ts'
import { givenWith, markConsumed, readConsumed } from './consumed-marker.ts'
import { keepEdit, noteOptions } from './keep-edit.ts'
import { notAhead } from './not-ahead.ts'
import { renderWindow } from './render-window.ts'
import { readWindow } from './window.ts'
import { latestOf, sameEntry } from './window-entry.ts'

export interface SeenWindow {
  entries: SessionSummary[]
  /** Handwritten notes in the window. */
  notes?: string | undefined
}

export interface ConsumedWindow extends SeenWindow {
  /** The window as markdown; empty when there is nothing in it. */
  text: string
}

/**
 * The window's text for an agent that begins a session. With `clear`, removes what was read from the window.
 *
 * @param options.clock dates the marker of consumption
 * @throws MemoryError INVALID_INPUT when an option is wrong or unknown: nothing is read or removed
 */
export async function consumeWindow(
  memory: MemoryManager,
  options: { clear?: boolean | undefined; clock?: Clock | undefined } = {},
): Promise<ConsumedWindow> {
  const { clear = false, clock, ...others } = options
  refuseUnknownOptions(others)
  // Any text would count as true, and what was not meant to be removed would be gone.
  if (typeof clear !== 'boolean') throw wrongOption('clear', 'must be true or false')
  const entries = await readWindow(memory)
  const notes = (await memory.read<string>('short-term', windowNotesKey)) ?? undefined
  if (clear) await clearWindow(memory, { entries, notes }, { clock })
  return { text: renderWindow(entries, notes), entries, notes }
}

/**
 * Removes from the window the sessions and notes that were read, and marks them as consumed in the same step. Sessions
 * that were added since stay, and so do sessions that changed before this call and notes that changed before their
 * removal. The sessions remain in their archives; the notes become an episode, and so does a summary that a person
 * changed.
 *
 * @throws MemoryError INVALID_INPUT for an unknown option: nothing is removed
 */
export async function clearWindow(
  memory: MemoryManager,
  { entries, notes }: SeenWindow,
  { clock = systemClock, ...others }: { clock?: Clock | undefined } = {},
): Promise<void> {
  refuseUnknownOptions(others)
  const now = clock()
  const isRead = notes !== undefined && (await memory.read('short-term', windowNotesKey)) === notes
  // As with an edit, the same text has the same key.
  if (isRead) await memory.write('episodic', `window:${fingerprint(notes)}`, notes, noteOptions)
  const seen = { entries, notes: isRead ? notes : undefined }
  for (let attempt = 1; ; attempt++) {
    try {
      await removeSeen(memory, seen, now)
      return
    } catch (error) {
      if (!isMemoryError(error, MemoryErrorCode.CONFLICT) || attempt === attempts) throw error
    }
  }
}

/** Attempts at a window whose notes are written while it is cleared. */
const attempts = 5

/** @throws MemoryError CONFLICT when the notes were written after they were read */
async function removeSeen(memory: MemoryManager, { entries, notes }: SeenWindow, now: number): Promise<void> {
  const record = await memory.read<string>('short-term', windowNotesKey, { includeMetadata: true })
  const kept = record !== null && record.value === notes ? record.metadata.updatedAt : undefined
  const present = await readWindow(memory)
  const unchanged = entries.filter((entry) => {
    const current = present.find(({ sessionId }) => sessionId === entry.sessionId)
    return current === undefined || sameEntry(current, entry)
  })
  if (unchanged.length === 0 && kept === undefined) return
  for (const entry of unchanged) await keepEdit(memory, entry)
  const before = await readConsumed(memory)
  const dates = [before?.date, ...unchanged.map(({ date }) => date)]
  const date = latestOf(...dates.map((each) => each && notAhead(each, now)))
  const given = givenWith(before, unchanged)
  await memory.atomicUpdate('short-term', [
    ...(date === undefined ? [] : [markConsumed({ at: new Date(now).toISOString(), date, given })]),
    ...unchanged.map(({ sessionId }) => deletionOf(sessionSummaryKey(sessionId))),
    ...(kept === undefined ? [] : [{ ...deletionOf(windowNotesKey), ifUpdatedAt: kept }]),
  ])
}

const deletionOf = (key: string) => ({ operation: 'delete', key }) as const
