const bits = 2 ** 16
const trigramAt = (text: string, at: number): number =>
  (text.charCodeAt(at) * 961 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) % bits

/**
 * Returns what says of each of the literals whether a text in lower case may hold it, whatever its own case, by their
 * runs of three characters: that takes one pass over the text, where to look for hundreds of literals takes hundreds. It
 * never says no of a literal that the text holds.
 */
export function literalFilter(literals: readonly string[]): (text: string) => (literal: string) => boolean {
  const trigrams = new Map<string, number[]>()
  for (const literal of literals) {
    const lower = literal.toLowerCase()
    trigrams.set(
      literal,
      Array.from({ length: Math.max(0, lower.length - 2) }, (_, at) => trigramAt(lower, at)),
    )
  }
  return (text) => {
    const known = new Uint8Array(bits)
    for (let at = 0; at < text.length - 2; at++) known[trigramAt(text, at)] = 1
    return (literal) => {
      for (const trigram of trigrams.get(literal) ?? []) if (known[trigram] === 0) return false
      return true
    }
  }
}
