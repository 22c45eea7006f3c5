import { conversationType, dateWords, type Entry, splitUnits, takenPlaceAt, unitLabel } from '@recall/core'
import { storableText } from '../filter/comparable-text.ts'
import { storableVector } from './storable-vector.ts'
import { countedWords } from './words.ts'

/** One unit of an entry, as the statement in `putEntries` takes it. */
export interface UnitRow {
  unit: number
  /** The text from which Postgres counts the words, if it has a text search configuration. */
  text: string
  words: string
  wordCount: number
  label: string
  /** The vector, as JSON. */
  embedding: string | null
}

/** The texts of an entry's units; at least one, because an entry without text may still have a vector. */
export function unitTexts({ text, type }: Pick<Entry, 'text' | 'type'>): string[] {
  const cuts = splitUnits(text, type === conversationType)
  return cuts.length === 0 ? [''] : cuts.map(({ start, end }) => text.slice(start, end))
}

/** @throws MemoryError INVALID_INPUT for a vector that Postgres cannot hold */
export function unitRowsOf(entry: Entry): UnitRow[] {
  const { text, type, embedding } = entry
  const texts = unitTexts({ text: storableText(text), type })
  // A single vector of the entry serves every unit.
  const whole = embedding && JSON.stringify(storableVector(embedding.vector))
  return texts.map((own, unit) => {
    const vector = embedding?.units?.[unit]
    // Queries ask for the topic and the date of a conversation together, so its first unit holds its date.
    const counted = unit === 0 && texts.length > 1 ? `${own}\n${dateWords(takenPlaceAt(entry))}` : own
    return {
      unit,
      text: counted,
      ...countedWords(counted),
      label: unitLabel(own),
      embedding: vector ? JSON.stringify(storableVector(vector)) : whole,
    }
  })
}
