/** A text that is kept, with some words of its own. */
export const content = (words: string): string =>
  `The pool leaked under load until the retry path released its client again; ${words}. It held for days.`
export const tags = ['postgres', 'leak']
