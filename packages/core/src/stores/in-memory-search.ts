import { MemoryError, MemoryErrorCode } from '../errors.ts'
import { isJsonObject } from '../json.ts'
import type { MatchedPassage } from '../memory-manager.ts'
import type { Entry, Found, StoreQuery } from '../memory-store.ts'
import { bm25, countTerms, type DocumentTerms, lookedFor, saturation } from '../ranking/bm25.ts'
import { cosineSimilarity } from '../ranking/cosine.ts'
import { dateWords } from '../ranking/date-words.ts'
import { bestPassage } from '../ranking/passages.ts'
import {
  noiseRank,
  type RankedUnit,
  rankUnits,
  spreadOf,
  surroundingReach,
  type UnitEvidence,
} from '../ranking/rank-units.ts'
import { unitLabel } from '../ranking/unit-label.ts'
import { splitUnits } from '../ranking/units.ts'
import { indexedTerms, queryTerms, wordsOf } from '../ranking/words.ts'
import { conversationType } from '../session-keys.ts'

/** An entry cut into units, with their words counted once instead of at every search. */
export interface Searchable {
  entry: Entry
  units: SearchableUnit[]
}

interface SearchableUnit {
  text: string
  parts: number
  terms: DocumentTerms
  label: ReadonlySet<string>
}

export function searchable(entry: Entry): Searchable {
  const cuts = splitUnits(entry.text, entry.type === conversationType)
  // An entry without text may still have a vector.
  if (cuts.length === 0) cuts.push({ start: 0, end: 0, line: 0, parts: 1 })
  const units = cuts.map(({ start, end, parts }, i) => {
    const text = entry.text.slice(start, end)
    // The first unit also holds the date, because questions often name a conversation's subject and time together.
    const words = indexedTerms(
      i === 0 && cuts.length > 1 ? `${text}\n${dateWords(takenPlaceAt(entry))}` : text,
    )
    return {
      text,
      parts,
      terms: countTerms(words),
      label: new Set(wordsOf(unitLabel(text, parts)).map(({ term }) => term)),
    }
  })
  return { entry, units }
}

/** When the events of an entry took place: an archive states its date, any other entry counts as of its creation. */
export function takenPlaceAt({
  type,
  value,
  createdAt,
}: Pick<Entry, 'type' | 'value' | 'createdAt'>): string | number {
  const date = type === conversationType && isJsonObject(value) ? value.date : undefined
  return typeof date === 'string' ? date : createdAt
}

/** Every candidate that matches the text or the embedding of a query, unordered. Their vectors passed `checkVectors`. */
export function searchEntries(candidates: readonly Searchable[], query: StoreQuery): Found[] {
  const { text, embedding } = query
  if (text === undefined && !embedding) {
    return candidates.map(({ entry }) => ({ entry, score: 1, mode: 'filter', signals: {} }))
  }
  if (text === undefined) return byVector(candidates, query)
  const terms = queryTerms(text)
  const ranked = rank(candidates, terms, query)
  const mode =
    embedding && candidates.some(({ entry }) => isComparable(entry, embedding)) ? 'hybrid' : 'lexical'
  const byEntry = new Map<Searchable, RankedUnit<Searchable>[]>()
  for (const unit of ranked) {
    const known = byEntry.get(unit.document)
    if (known) known.push(unit)
    else byEntry.set(unit.document, [unit])
  }
  return [...byEntry].map(([{ entry, units }, found]) => {
    const [best] = found as [RankedUnit<Searchable>]
    const passages = found.slice(0, query.passages ?? 1).map(({ unit, score, confidence }) => ({
      ...passageOf(units, unit, terms),
      score,
      confidence,
    }))
    return {
      entry,
      score: best.score,
      confidence: best.confidence,
      mode,
      signals: best.signals,
      ...(passages[0] ? { passage: passages[0] } : {}),
      ...(query.passages ? { passages } : {}),
    }
  })
}

function rank(
  candidates: readonly Searchable[],
  asked: readonly string[],
  { embedding, now }: StoreQuery,
): RankedUnit<Searchable>[] {
  const all = candidates.flatMap((document) => document.units.map((own, unit) => ({ document, own, unit })))
  const collection = all.map(({ own }) => own.terms)
  const { terms, rarities } = lookedFor(asked, collection)
  const strengths = bm25(terms, collection, rarities)
  const coverage = coverageBy(terms, rarities)
  const evidence = all.map(({ document, own, unit }, i): UnitEvidence<Searchable> => {
    const vector = embedding && vectorOf(document.entry, unit, embedding)
    return {
      document,
      unit,
      parts: own.parts,
      bm25: strengths[i] ?? 0,
      isWhole: terms.length > 0 && terms.every((term) => own.terms.counts.has(term)),
      labelled: asked.some((term) => own.label.has(term)),
      ageMs: now - document.entry.updatedAt,
      ...(isConversation(document) ? { surroundings: coverage(around(document.units, unit)) } : {}),
      ...(embedding && vector ? { similarity: cosineSimilarity(vector, embedding.vector) } : {}),
    }
  })
  const similarities = evidence.flatMap(({ similarity }) => similarity ?? [])
  return rankUnits(evidence, {
    bm25Bound: rarities.reduce((sum, rarity) => sum + rarity, 0) * saturation || 1,
    bm25Noise: strengths.toSorted((a, b) => b - a)[noiseRank - 1] ?? 0,
    coverage: new Map(
      candidates.filter(isConversation).map((document) => [document, coverage(document.units)]),
    ),
    ...(embedding
      ? {
          spread: spreadOf(
            {
              count: similarities.length,
              sum: similarities.reduce((sum, value) => sum + value, 0),
              squares: similarities.reduce((sum, value) => sum + value ** 2, 0),
            },
            embedding.unrelated,
          ),
        }
      : {}),
  })
}

const isConversation = ({ entry, units }: Searchable): boolean =>
  entry.type === conversationType && units.length > 1

/** Returns a function that tells the share of the terms, weighted by rarity, that occur in any of some units. */
function coverageBy(
  terms: readonly string[],
  rarities: readonly number[],
): (units: readonly SearchableUnit[]) => number {
  const total = rarities.reduce((sum, rarity) => sum + rarity, 0) || 1
  return (units) => {
    const isFound = (term: string): boolean => units.some((unit) => unit.terms.counts.has(term))
    return terms.reduce((sum, term, i) => (isFound(term) ? sum + (rarities[i] as number) : sum), 0) / total
  }
}

const around = (units: readonly SearchableUnit[], unit: number): readonly SearchableUnit[] =>
  units.slice(Math.max(0, unit - surroundingReach), unit + surroundingReach + 1)

/** The matching unit and its neighbours; for an entry of one unit, its best paragraph and the ones around it. */
function passageOf(units: readonly SearchableUnit[], unit: number, terms: readonly string[]): MatchedPassage {
  const text = units[unit]?.text ?? ''
  if (units.length === 1) return bestPassage(text, terms)
  const neighbours = [units[unit - 1], units[unit + 1]].flatMap((other) => other?.text.trimEnd() ?? [])
  return { text: text.trimEnd(), ...(neighbours.length > 0 ? { neighbours } : {}) }
}

function byVector(candidates: readonly Searchable[], { embedding }: StoreQuery): Found[] {
  if (!embedding) return []
  return candidates.flatMap(({ entry, units }) => {
    const similarities = units.flatMap((_, unit) => {
      const vector = vectorOf(entry, unit, embedding)
      return vector ? cosineSimilarity(vector, embedding.vector) : []
    })
    if (similarities.length === 0) return []
    const score = Math.min(1, Math.max(0, ...similarities))
    return { entry, score, mode: 'semantic', signals: { similarity: score } }
  })
}

type Asked = NonNullable<StoreQuery['embedding']>

/** The comparable vector of a unit, or the entry's only vector, which stands for every unit. */
const vectorOf = (entry: Entry, unit: number, asked: Asked): readonly number[] | undefined =>
  isComparable(entry, asked) ? (entry.embedding?.units?.[unit] ?? entry.embedding?.vector) : undefined

const isComparable = ({ embedding }: Entry, { vector }: Asked): boolean =>
  embedding?.vector.length === vector.length

/**
 * Refuses a query whose vector cannot be compared with those of the entries.
 *
 * @throws MemoryError CONFLICT when one of them is of another model, INVALID_INPUT when all are of another length
 */
export function checkVectors(entries: readonly Entry[], asked: Asked): void {
  const first = entries.find(({ embedding }) => embedding)
  if (!first?.embedding) return
  const { model, vector } = asked
  const other = entries.find(({ embedding }) => model !== null && embedding && embedding.model !== model)
  if (other) {
    throw new MemoryError(
      `'${other.key}' was embedded with ${other.embedding?.model}, the query with ${model}: write the entries again, all with one model`,
      MemoryErrorCode.CONFLICT,
      { scope: other.scope, key: other.key },
    )
  }
  if (entries.some((entry) => isComparable(entry, asked))) return
  throw new MemoryError(
    `the query vector has ${vector.length} dimensions, that of '${first.key}' has ${first.embedding.vector.length}, and no entry has as many as the query: give all entries of a scope vectors of one length`,
    MemoryErrorCode.INVALID_INPUT,
    { scope: first.scope, key: first.key },
  )
}
