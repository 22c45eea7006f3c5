import { cappedBy, type RankedMatch } from './append-capped.ts'

/**
 * Puts the documents that hold every word of the query in one unit before all others, whose scores are capped by the
 * last of these. A text that answers the whole question is then not outweighed by a shorter one about part of it.
 *
 * @param ranked units, best first
 */
export function wholeFirst<Document, Match extends RankedMatch & { document: Document }>(
  ranked: readonly Match[],
  whole: ReadonlySet<Document>,
): Match[] {
  const first = ranked.filter(({ document }) => whole.has(document))
  const last = [...bestOf(first).values()].at(-1)
  if (!last) return [...ranked]
  const rest = ranked.filter(({ document }) => !whole.has(document))
  return [...first, ...rest.map((match) => cappedBy(last, match))]
}

/** The best match of each document, best first. */
function bestOf<Document, Match extends { document: Document }>(
  ranked: readonly Match[],
): ReadonlyMap<Document, Match> {
  const best = new Map<Document, Match>()
  for (const match of ranked) if (!best.has(match.document)) best.set(match.document, match)
  return best
}
