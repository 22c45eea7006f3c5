import { closestMatch } from 'leven'

/** Names the known word that somebody may have meant, to be put behind what is wrong; nothing where none is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const nearest = closestMatch(word, known, { maxDistance: Math.max(1, Math.floor(word.length / 3)) })
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}
