import { plainWords } from './plain-words.ts'

/** The share of runs of three words that two texts have in common: 1 when they are the same word for word. */
export function sharedWords(a: string, b: string): number {
  const [ofA, ofB] = [runsOf(a), runsOf(b)]
  let shared = 0
  for (const run of ofA) if (ofB.has(run)) shared++
  return shared / Math.max(1, ofA.size + ofB.size - shared)
}

function runsOf(text: string): Set<string> {
  const words = plainWords(text)
  return new Set(words.map((_, i) => words.slice(i, i + 3).join(' ')))
}
