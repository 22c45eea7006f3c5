import { parseFrontMatter } from './front-matter.ts'

/**
 * What tells best of an archive without a title what it is about: the first line of its summary, or of what was said.
 *
 * @param beginning of the archive, with its whole front matter
 * @returns `undefined` when nothing is said in it
 */
export const openingOf = (beginning: string): string | undefined =>
  openingIn(parseFrontMatter(beginning).body)

/** `openingOf` of what stands below the front matter. */
export const openingIn = (body: string): string | undefined =>
  body.split(/\r?\n/).find((line) => /^[^#>\s]/.test(line))
