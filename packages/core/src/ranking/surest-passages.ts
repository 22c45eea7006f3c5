import type { MatchedPassage, MemoryMatch } from '../memory-manager.ts'
import { lastAnswerMark, sessionSummaryType } from '../session-keys.ts'
import { type Sureness, surestFirst } from './confidence.ts'

/** A passage of a match, with its own score and confidence; the whole match if it has no passages. */
export interface FoundPassage<T> extends Sureness {
  match: MemoryMatch<T>
  passage?: MatchedPassage | undefined
}

/** Share of a match's score that another of its passages needs in order to be shown. */
export const tellingShare = 0.4

/** Most passages that a search adds to a match. */
export const mostPassages = 50

/**
 * Passages to request for each match to fill this many places. Each passage that is shown may show its two neighbours,
 * and enough must be left even if a single conversation holds all the best.
 */
export const passagesFor = (places: number): number => Math.min(mostPassages, 3 * places)

/** Characters of a neighbour to show next to a passage. A neighbour that is no longer is shown whole, and not again. */
export const besideLength = 300

/**
 * The best places that several searches with `passages` (see `passagesFor`) found for the same question, best first.
 * One conversation may hold several of them: the turn that answers is often not the one by which its conversation was
 * found. Places are left out that only repeat better places and their neighbours word for word, that are short and a
 * neighbour of a better passage of the same match, or that summarise something else that is shown (see
 * `withoutRepeats`).
 *
 * @param mostOfOne most places of one match
 */
export function surestPassages<T>(
  matches: readonly MemoryMatch<T>[],
  limit: number,
  mostOfOne = limit,
): FoundPassage<T>[] {
  const isNews = newsFilter()
  const places = matches.flatMap((match) => placesOf(match).slice(0, mostOfOne)).sort(surestFirst)
  return withoutRepeats(places, toldBy)
    .filter(({ match, passage }) => isNews(passage ?? { text: JSON.stringify(match.value) }))
    .slice(0, limit)
}

/**
 * Returns a function that tells, place by place, whether the place or a neighbour says something that none before it
 * did.
 */
export function newsFilter(): (place: {
  text: string
  neighbours?: readonly string[] | undefined
}) => boolean {
  const told = new Set<string>()
  const besides = new Set<string>()
  return ({ text, neighbours = [] }) => {
    const said = withoutHeading(text)
    const beside = neighbours.map(withoutHeading)
    // The same question may have been asked twice, and answered differently: the answer is a neighbour.
    const hasNews = !told.has(said) || beside.some((each) => !told.has(each) && !besides.has(each))
    told.add(said)
    for (const each of beside) besides.add(each)
    return hasNews
  }
}

/** A place as `withoutRepeats` sees it: what it says, and the type of the entry that says it. */
export interface ToldPlace {
  text: string
  type: string | null
}

/**
 * The places without those that only repeat the beginning of others: a summary that was made without a model is the
 * first turn, and the rolling window repeats what a session's archive says.
 */
export function withoutRepeats<P>(places: readonly P[], toldBy: (place: P) => ToldPlace): P[] {
  const told = places.map(toldBy)
  if (!told.some((place) => isSummary(place) || isOfWindow(place))) return [...places]
  const archived = told.filter((place) => !isOfWindow(place))
  const summaries = archived.filter(isSummary).map(saidIn)
  const turns = archived.filter((place) => !isSummary(place)).map(saidIn)
  const isIn = (places: readonly string[], place: ToldPlace): boolean =>
    pointsOf(place).every((point) => places.some((each) => each.startsWith(point)))
  const isRepeat = (place: ToldPlace): boolean =>
    isOfWindow(place) ? isIn([...turns, ...summaries], place) : isSummary(place) && isIn(turns, place)
  return places.filter((_, i) => !isRepeat(told[i] as ToldPlace))
}

const isOfWindow = ({ type }: ToldPlace): boolean => type === sessionSummaryType
const isSummary = ({ text }: ToldPlace): boolean => /^## Summary\r?\n/.test(text)

/** The paragraphs of a summary, without the mark where one was cut and what is added to it from the archive. */
const pointsOf = ({ text }: ToldPlace): string[] =>
  withoutHeading(text)
    .split(/\r?\n\s*\n/)
    .map((paragraph) => onOneLine(paragraph).replace(/…$/, ''))
    .filter((paragraph) => !paragraph.startsWith(lastAnswerMark))

const saidIn = ({ text }: ToldPlace): string => onOneLine(withoutHeading(text))

/** What a part of a conversation says, without the heading that says which part it is. */
const withoutHeading = (text: string): string =>
  text.replace(/^(?:## Summary|### (?:User|Assistant))\r?\n\s*/, '').trim()

const onOneLine = (text: string): string => text.replace(/\s+/g, ' ')

const toldBy = ({ match, passage }: FoundPassage<unknown>): ToldPlace => ({
  text: passage?.text ?? '',
  type: match.metadata.type,
})

function placesOf<T>(match: MemoryMatch<T>): FoundPassage<T>[] {
  const { score: whole, confidence: ofWhole } = match
  const told = new Set<string>()
  const places: FoundPassage<T>[] = []
  for (const passage of match.passages ?? (match.passage ? [match.passage] : [])) {
    const { text, neighbours = [], score = whole, confidence = ofWhole } = passage
    if (score < tellingShare * whole || (text.length <= besideLength && told.has(text))) continue
    for (const neighbour of neighbours) told.add(neighbour)
    places.push({ match, passage, score, confidence })
  }
  return places.length > 0 ? places : [{ match, score: whole, confidence: ofWhole }]
}
