import type { Embedder } from '@recall/core'

const wide = 64

const vectorOf = (text: string): Float32Array => {
  const angle = (Number(/(-?\d+) degrees/.exec(text)?.[1]) / 180) * Math.PI
  return Float32Array.from({ length: wide }, (_, i) => [Math.cos(angle), Math.sin(angle)][i] ?? 0)
}

/** Every text is a direction, so that a test knows how similar two are: by the cosine of the angle between. */
export const degrees: Embedder & { text(angle: number): string } = {
  // Stands in for the fake one where memories of both would meet.
  model: `fake-words/${wide}`,
  dimensions: wide,
  embed: async (texts) => texts.map(vectorOf),
  /** Long enough to be kept. */
  text: (angle) =>
    `${angle} degrees is where this memory lies, and all else that it says is here to make it long enough.`,
}
