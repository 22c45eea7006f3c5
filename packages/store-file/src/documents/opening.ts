import { parseFrontMatter } from './front-matter.ts'

/**
 * What best tells the subject of an archive without a title: the first line of its summary, or of what was said.
 *
 * @param beginning of the archive, with its whole front matter
 * @returns `undefined` when nothing is said in it
 */
export const openingOf = (beginning: string): string | undefined =>
  openingIn(parseFrontMatter(beginning).body)

/** `openingOf` for the text below the front matter. */
export const openingIn = (body: string): string | undefined =>
  body.split(/\r?\n/).find((line) => /^[^#>\s]/.test(line))
