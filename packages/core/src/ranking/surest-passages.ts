import type { MatchedPassage, MemoryMatch } from '../memory-manager.ts'
import { surestFirst } from './confidence.ts'

/** A passage of a match; of a match that shows none, the match as a whole. */
export interface FoundPassage<T> {
  match: MemoryMatch<T>
  passage?: MatchedPassage
}

/**
 * The best places of what several searches with `passages` found for the same question, best first. One conversation may
 * hold several of them: the turn that answers is often not the one that its conversation was found by.
 */
export function surestPassages<T>(matches: readonly MemoryMatch<T>[], limit: number): FoundPassage<T>[] {
  const places = matches.flatMap((match) => {
    const passages = match.passages ?? (match.passage ? [match.passage] : [])
    return passages.length === 0 ? [{ match }] : passages.map((passage) => ({ match, passage }))
  })
  return places.sort((a, b) => surestFirst(surenessOf(a), surenessOf(b))).slice(0, limit)
}

function surenessOf<T>({ match, passage }: FoundPassage<T>) {
  const { score = match.score, confidence = match.confidence } = passage ?? {}
  return { score, confidence }
}
