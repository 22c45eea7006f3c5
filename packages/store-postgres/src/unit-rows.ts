import { conversationType, dateWords, type Entry, splitUnits, takenPlaceAt, unitLabel } from '@recall/core'
import { storableText } from './comparable-text.ts'
import { storableVector } from './storable-vector.ts'
import { countedWords } from './words.ts'

/** One unit of an entry, as the statement takes it that writes them. */
export interface UnitRow {
  unit: number
  /** What its words are counted in, for a text search configuration. */
  text: string
  words: string
  wordCount: number
  label: string
  /** As JSON. */
  embedding: string | null
}

/** The texts of the units of a text; at least one, since an entry without text may have a vector all the same. */
export function unitTexts({ text, type }: Pick<Entry, 'text' | 'type'>): string[] {
  const cuts = splitUnits(text, type === conversationType)
  return cuts.length === 0 ? [''] : cuts.map(({ start, end }) => text.slice(start, end))
}

/** @throws MemoryError INVALID_INPUT for a vector that Postgres cannot hold */
export function unitRowsOf(entry: Entry): UnitRow[] {
  const { text, type, embedding } = entry
  const texts = unitTexts({ text: storableText(text), type })
  // Where the entry has only one vector, it speaks for every unit.
  const whole = embedding && JSON.stringify(storableVector(embedding.vector))
  return texts.map((own, unit) => {
    const vector = embedding?.units?.[unit]
    // What a conversation was about and when it took place are asked for together.
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
