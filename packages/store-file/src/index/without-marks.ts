/**
 * Takes the diacritics off Greek, Cyrillic, Hebrew and Arabic words, as people leave them out: SQLite's tokenizer does
 * that for Latin letters only.
 */
export const withoutMarks = (text: string): string =>
  text.replace(/[\u0300-\u06ff\u1f00-\u1fff]+/g, (run) => run.normalize('NFD').replace(/\p{M}+/gu, ''))
