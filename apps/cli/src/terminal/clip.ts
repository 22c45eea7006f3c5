import { beginningOf } from '@recall/core/text'

/** The whole text, or the beginning of a longer one and `…`. */
export const clip = (text: string, length: number): string =>
  text.length <= length ? text : `${beginningOf(text, length)}…`
