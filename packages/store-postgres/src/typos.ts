import type { StoreQuery } from '@recall/core'
import { wordsOf } from '@recall/core'
import { sql } from 'drizzle-orm'
import { placeId } from './address.ts'
import type { Shelf } from './conditions.ts'
import { type Database, rowsOf } from './database.ts'
import { entries } from './schema/entries.ts'

/** Least share of trigrams that a word and its correction have in common. */
const leastSimilar = 0.33

/** Texts to search for corrections of one word. */
const mostTexts = 20

/**
 * Corrects a query none of whose words occurs in a text: it is misspelled, or about something else.
 *
 * @returns the text with each word replaced by the most similar one in the place's texts; `null` when no word
 * resembles any
 */
export async function corrected(database: Database, query: StoreQuery, shelf: Shelf): Promise<string | null> {
  const text = query.text ?? ''
  const asked = wordsOf(text)
    .map(({ start, end }) => text.slice(start, end).toLowerCase())
    .filter((word) => word.length >= shortest)
  if (asked.length === 0) return null
  const rows = await database.transaction(async (transaction) => {
    await transaction.execute(
      sql`select set_config('pg_trgm.word_similarity_threshold', ${String(leastSimilar)}, true)`,
    )
    return rowsOf<{ asked: string; text: string }>(
      transaction,
      sql`
        select asked, near.text
        from (select distinct asked from jsonb_array_elements_text(${JSON.stringify(asked.slice(0, mostWords))}::text::jsonb) as asked) as words,
          lateral (
            select left(${entries.text}, ${longestText}) as text from ${entries}
            where ${entries.place} = ${placeId(query, shelf)}::uuid and ${entries.text} %> asked
            order by ${entries.text} <->> asked limit ${mostTexts}
          ) as near`,
    )
  })
  const found = new Map<string, { word: string; similarity: number }>()
  for (const { asked: word, text: near } of rows) {
    for (const other of new Set(
      wordsOf(near).map(({ start, end }) => near.slice(start, end).toLowerCase()),
    )) {
      const similarity = trigramSimilarity(word, other)
      if (similarity >= leastSimilar && similarity > (found.get(word)?.similarity ?? 0)) {
        found.set(word, { word: other, similarity })
      }
    }
  }
  return found.size === 0 ? null : asked.map((word) => found.get(word)?.word ?? word).join(' ')
}

/** Words of three letters or fewer are not corrected. */
const shortest = 4
const mostWords = 16
const longestText = 20_000

/** Like pg_trgm's `similarity`, which pads each word with two blanks in front and one behind. */
function trigramSimilarity(a: string, b: string): number {
  const [ofA, ofB] = [trigrams(a), trigrams(b)]
  const shared = [...ofA].filter((trigram) => ofB.has(trigram)).length
  return shared / (ofA.size + ofB.size - shared)
}

function trigrams(word: string): Set<string> {
  const padded = `  ${word} `
  return new Set(Array.from({ length: padded.length - 2 }, (_, i) => padded.slice(i, i + 3)))
}
