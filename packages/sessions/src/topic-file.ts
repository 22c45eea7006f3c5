import { foldLetters } from '@recall/core/ranking'

const longestSlug = 60
/** Marks are part of a word, such as the vowels of Devanagari; those that make a sign an emoji are not. */
const wordsIn = (text: string): string[] =>
  text.match(/[\p{L}\p{N}](?:[\p{L}\p{N}]|(?!\p{Variation_Selector})[\p{Mn}\p{Mc}])*/gu) ?? []
/** Names that belong to the memory itself, or to devices of Windows. */
const reserved = /^(?:memory|ephemeral|archive|con|prn|aux|nul|com\d|lpt\d)$/

/**
 * A file name for a heading, for example `debugging.md` for `## Debugging`, with a number if the name is taken. Names
 * are lower case, because some file systems ignore case.
 *
 * @param taken names in use, in lower case
 */
export function topicFileFor(heading: string, taken: ReadonlySet<string>): string {
  const slug = wordsIn(foldLetters(heading).toLowerCase()).join('-')
  const name = [...slug].slice(0, longestSlug).join('').replace(/-$/, '') || 'topic'
  const base = reserved.test(name) ? `${name}-notes` : name
  for (let number = 1; ; number++) {
    const file = `${base}${number === 1 ? '' : `-${number}`}.md`
    if (!taken.has(file)) return file
  }
}

/** Whether a plan may name this file: one plain name, never a path. */
export function isTopicFile(name: string): boolean {
  return (
    /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_-]*\.md$/u.test(name) && !reserved.test(name.slice(0, -3).toLowerCase())
  )
}
