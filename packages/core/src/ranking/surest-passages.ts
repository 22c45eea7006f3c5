import type { MatchedPassage, MemoryMatch } from '../memory-manager.ts'
import { type Sureness, surestFirst } from './confidence.ts'

/** A passage of a match, with its own score and confidence; of a match that shows none, the match as a whole. */
export interface FoundPassage<T> extends Sureness {
  match: MemoryMatch<T>
  passage?: MatchedPassage
}

/** Share of the score of a match that another passage of it needs to be told as well. */
export const tellingShare = 0.4

/** Most passages that a search adds to a match. */
export const mostPassages = 50

/**
 * Passages to ask of each match for so many places. Each that is told may tell the two beside it, and what is left has
 * to be enough although a single conversation may hold all the best.
 */
export const passagesFor = (places: number): number => Math.min(mostPassages, 3 * places)

/** Characters of a neighbour to tell beside a passage. A neighbour that is no longer is told whole, and not again. */
export const besideLength = 300

/**
 * The best places of what several searches with `passages` (see `passagesFor`) found for the same question, best
 * first. One conversation may hold several of them: the turn that answers is often not the one that its conversation
 * was found by. What better places tell word for word, neighbours and all, is not told again, nor is a short passage
 * that a better one of its match has as a neighbour, or a summary that only repeats a turn.
 *
 * @param mostOfOne most places of one match
 */
export function surestPassages<T>(
  matches: readonly MemoryMatch<T>[],
  limit: number,
  mostOfOne = limit,
): FoundPassage<T>[] {
  const isNews = newsFilter()
  return matches
    .flatMap((match) => placesOf(match).slice(0, mostOfOne))
    .sort(surestFirst)
    .filter(({ match, passage }) => isNews(passage ?? { text: JSON.stringify(match.value) }))
    .slice(0, limit)
}

/** Tells of one place after the other whether it says, itself or by a neighbour, what none before it told. */
export function newsFilter(): (place: {
  text: string
  neighbours?: readonly string[] | undefined
}) => boolean {
  const told = new Set<string>()
  const besides = new Set<string>()
  return ({ text, neighbours = [] }) => {
    const said = withoutHeading(text)
    const beside = neighbours.map(withoutHeading)
    // The same question may have been asked twice, and answered otherwise: the answer is a neighbour.
    const hasNews = !told.has(said) || beside.some((each) => !told.has(each) && !besides.has(each))
    told.add(said)
    for (const each of beside) besides.add(each)
    return hasNews
  }
}

/**
 * The passages without the summaries that say no more than how another of them begins: a summary that was made without
 * a model repeats the first turn.
 */
export function withoutRepeatedTurns<P extends { text: string }>(passages: readonly P[]): P[] {
  const isSummary = ({ text }: P): boolean => /^## Summary\r?\n/.test(text)
  if (!passages.some(isSummary)) return [...passages]
  const turns = passages.filter((passage) => !isSummary(passage)).map(({ text }) => onOneLine(text))
  const isRepeated = ({ text }: P): boolean => {
    const summary = onOneLine(text).replace(/…$/, '')
    return turns.some((turn) => turn.startsWith(summary))
  }
  return passages.filter((passage) => !isSummary(passage) || !isRepeated(passage))
}

/** What a part of a conversation says, without what tells which part it is. */
const withoutHeading = (text: string): string =>
  text.replace(/^(?:## Summary|### (?:User|Assistant))\r?\n\s*/, '').trim()

const onOneLine = (text: string): string => withoutHeading(text).replace(/\s+/g, ' ')

function placesOf<T>(match: MemoryMatch<T>): FoundPassage<T>[] {
  const { score: whole, confidence: ofWhole } = match
  const told = new Set<string>()
  const places: FoundPassage<T>[] = []
  const passages = match.passages ?? (match.passage ? [match.passage] : [])
  for (const passage of withoutRepeatedTurns(passages)) {
    const { text, neighbours = [], score = whole, confidence = ofWhole } = passage
    if (score < tellingShare * whole || (text.length <= besideLength && told.has(text))) continue
    for (const neighbour of neighbours) told.add(neighbour)
    places.push({ match, passage, score, confidence })
  }
  return places.length > 0 ? places : [{ match, score: whole, confidence: ofWhole }]
}
