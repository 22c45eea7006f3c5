import { lazily } from '../text/lazily.ts'

/** Scripts that are written without spaces between words, and Hangul, whose words carry their particles. */
const scripts = ['Han', 'Hiragana', 'Katakana', 'Bopomofo', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('')

/** A character of such a script, as a source for patterns. */
export const unspacedCharacter = `[${scripts}]`

const unspaced = lazily(() => new RegExp(unspacedCharacter, 'u'))
const pieces = lazily(() => new RegExp(`[${scripts}]+|[^${scripts}]+`, 'gu'))

/** The range of every script without spaces: a cheap test that rules most texts out. */
export const isBeyondLatin = (text: string): boolean => /[\u0E00-\uFFFF]/.test(text)

/** Whether a run of letters holds a script that is written without spaces, and so may be a whole sentence. */
export const isUnspaced = (run: string): boolean => isBeyondLatin(run) && unspaced().test(run)

/**
 * Splits a run of letters: scripts without spaces into characters and all pairs of neighbours, as most engines index
 * Chinese, Japanese and Korean; other scripts stay whole. It needs no dictionary, so every store and version agrees.
 *
 * @param asked the run is from a question: return only pairs, if any, because single characters occur nearly everywhere
 */
export function unspacedWords(run: string, asked = false): string[] {
  return (run.match(pieces()) ?? []).flatMap((piece) => {
    if (!isUnspaced(piece)) return [piece]
    // A combining mark belongs to the letter before it.
    const characters = piece.match(/\P{M}\p{M}*|\p{M}+/gu) ?? []
    const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`)
    return asked && pairs.length > 0 ? pairs : [...characters, ...pairs]
  })
}
