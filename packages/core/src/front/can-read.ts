import type { Embedder } from '../embedder.ts'

/** Whether at least half of a text's letters are of scripts that a model knows. Numbers and signs count as known. */
export function canRead({ scripts }: Pick<Embedder, 'scripts'>, text: string): boolean {
  if (!scripts) return true
  const known = new RegExp(scripts.map((script) => `\\p{Script=${script}}`).join('|'), 'u')
  let balance = 0
  for (const [letter] of text.matchAll(/\p{L}/gu)) balance += known.test(letter) ? 1 : -1
  return balance >= 0
}
