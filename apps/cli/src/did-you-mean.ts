import { closestMatch } from 'leven'

/** Suggests the known word that somebody may have meant, as the end of a message; empty if none is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = closestMatch(word, known, { maxDistance: Math.max(1, Math.floor(word.length / 3)) })
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}
