import { setImmediate as takeTurns } from 'node:timers/promises'
import { conversationType, type Entry } from '@recall/core'
import { dateWords, splitUnits, type Unit, unitLabel } from '@recall/core/ranking'
import { takenPlaceAt } from '@recall/core/stores'
import { storableText } from './storable-text.ts'
import { storableVector } from './storable-vector.ts'
import { countedWords } from './words.ts'

/** One unit of an entry, as the statement in `putEntries` takes it. */
export interface UnitRow {
  unit: number
  /** The text from which Postgres counts the words, if it has a text search configuration. */
  text: string
  words: string
  wordCount: number
  parts: number
  label: string
  /** The vector, as JSON. */
  embedding: string | null
}

/** The texts of an entry's units; at least one, because an entry without text may still have a vector. */
export const unitTexts = (entry: Pick<Entry, 'text' | 'type'>): string[] =>
  unitsOf(entry).map(({ start, end }) => entry.text.slice(start, end))

function unitsOf({ text, type }: Pick<Entry, 'text' | 'type'>): Unit[] {
  const units = splitUnits(text, type === conversationType)
  return units.length === 0 ? [{ start: 0, end: 0, line: 0, parts: 1 }] : units
}

/**
 * Characters whose words are counted without a pause. That takes about 50 ms, during which nothing else in the process
 * runs.
 */
const countedAtOnce = 100_000

/** @throws MemoryError INVALID_INPUT for a vector that Postgres cannot hold */
export async function unitRowsOf(entry: Entry): Promise<UnitRow[]> {
  const { type, embedding } = entry
  const text = storableText(entry.text)
  const units = unitsOf({ text, type })
  // A single vector of the entry serves every unit.
  const whole = embedding && JSON.stringify(storableVector(embedding.vector))
  const rows: UnitRow[] = []
  let pausedAt = 0
  for (const [unit, { start, end, parts }] of units.entries()) {
    if (end - pausedAt > countedAtOnce) {
      pausedAt = end
      await takeTurns()
    }
    const own = text.slice(start, end)
    const vector = embedding?.units?.[unit]
    // Queries ask for the topic and the date of a conversation together, so its first unit holds its date.
    const counted = unit === 0 && units.length > 1 ? `${own}\n${dateWords(takenPlaceAt(entry))}` : own
    rows.push({
      unit,
      text: counted,
      ...countedWords(counted),
      parts,
      label: unitLabel(own, parts),
      embedding: vector ? JSON.stringify(storableVector(vector)) : whole,
    })
  }
  return rows
}
