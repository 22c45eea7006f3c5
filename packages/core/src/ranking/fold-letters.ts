import { isAscii } from '../text/ascii.ts'
import { lazily } from '../text/lazily.ts'

/**
 * A text with its letters as people type them to search: without the diacritics of Latin, Greek, Cyrillic, Hebrew and
 * Arabic letters, `ß` as `ss` and `ø` as `o`, ligatures and full-width forms as the letters they stand for (Unicode's
 * NFKD). Marks of other scripts stay, such as the vowels of Devanagari and the voicing of kana: without them it is
 * another word. ASCII does not change, and no word boundary moves.
 */
export const foldLetters = (text: string): string =>
  // Half-width kana and decomposed Hangul are composed only at the end, across letters.
  isAscii(text) ? text : text.replace(foldable, foldCharacter).normalize('NFC')

/**
 * Everything except ASCII, punctuation, and the plain letters of Greek, Cyrillic, kana, Han and Hangul, which make up
 * most of a text in their script and never change.
 */
const foldable =
  /[^\0-\x7f\u0391-\u03a9\u03b1-\u03c9\u0410-\u0418\u041a-\u0438\u043a-\u044f\u2000-\u206f\u3040-\u30fe\u3400-\u9fff\uac00-\ud7a3]/gu

function foldCharacter(character: string): string {
  const known = folded.get(character)
  if (known !== undefined) return known
  const plain = character
    .normalize('NFKD')
    .replace(diacritics(), '')
    .replace(special, (letter) => specialLetters.get(letter) as string)
  // Some, such as ½, decompose into signs, which would end the word. A few signs have their own mark in NFC.
  const isSign = notOfWord().test(character + plain)
  const result = isSign ? character.normalize('NFC').replace(diacritics(), '') : plain
  if (folded.size >= mostFolded) folded.clear()
  folded.set(character, result)
  return result
}

const notOfWord = lazily(() => /[^\p{L}\p{N}\p{M}\p{Co}]/u)

/**
 * Combining marks of the scripts that people search without marks, of which those of Latin and Greek belong to several
 * scripts; and the tatweel, which only stretches Arabic. The voicing marks of kana belong to both of its scripts.
 */
const diacritics = lazily(
  () =>
    /(?![\u3099\u309a])(?=\p{M})[\p{Script=Inherited}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}]|\u0640/gu,
)

/** Letters that Unicode does not decompose, spelled as in Lucene's ASCII folding. */
const specialLetters = new Map(
  'ß:ss ẞ:SS æ:ae Æ:AE œ:oe Œ:OE ø:o Ø:O ł:l Ł:L đ:d Đ:D ð:d Ð:D þ:th Þ:TH ħ:h Ħ:H ŧ:t Ŧ:T ı:i'
    .split(' ')
    .map((pair) => pair.split(':') as [letter: string, plain: string]),
)
const special = new RegExp(`[${[...specialLetters.keys()].join('')}]`, 'g')

/** A text repeats few characters, and normalizing takes several times as long as looking one up. */
const folded = new Map<string, string>()
const mostFolded = 20_000
