import { isUnspaced, unspacedCharacter, unspacedWords } from './unspaced-words.ts'

/**
 * The words inside an identifier that is written without separators: `searchMemories` holds `search` and
 * `Memories`, `HTTPServer` holds `HTTP` and `Server`. None for any other word: `snake_case` and paths are split at
 * their separators anyway.
 */
export function identifierWords(word: string): string[] {
  if (!hump.test(word)) return []
  return (word.match(part) ?? []).filter((each) => each.length > 1)
}

/** A capital after a small letter, or a capitalised word after capitals. */
const hump = /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u
const part = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu

/** The words inside a run of letters: those of an identifier, or of a sentence in a script without spaces. */
export const innerWords = (run: string): string[] =>
  beyondLatin.test(run) && isUnspaced(run) ? unspacedWords(run) : identifierWords(run)

/** The range of every script without spaces: a cheap test that rules most texts out. */
const beyondLatin = /[\u0E00-\uFFFF]/

/** The `innerWords` of a text, joined by spaces, for engines that split texts themselves; '' when there are none. */
export function wordsInIdentifiers(text: string): string {
  const words: string[] = []
  const marks = beyondLatin.test(text) ? humpsAndScripts : humps
  // Jumps from hump to hump: looking at every word would take as long as indexing the text.
  for (let hump = nextHump(text, 0, marks); hump !== -1; ) {
    const end = wordEnd(text, hump)
    // No spread into `push`: a sentence without spaces may be as long as the text and overflow the stack.
    for (const word of innerWords(text.slice(wordStart(text, hump), end))) words.push(word)
    hump = nextHump(text, end, marks)
  }
  return words.join(' ')
}

const ofWords = /[\p{L}\p{N}\p{M}\p{Co}]/u
const humps = new RegExp(hump, 'gu')
const humpsAndScripts = new RegExp(`${hump.source}|(?=${ofWords.source})${unspacedCharacter}`, 'gu')
const restOfWord = new RegExp(`${ofWords.source}*`, 'uy')

function nextHump(text: string, from: number, marks: RegExp): number {
  marks.lastIndex = from
  return marks.exec(text)?.index ?? -1
}

function wordEnd(text: string, at: number): number {
  restOfWord.lastIndex = at
  restOfWord.test(text)
  return restOfWord.lastIndex
}

function wordStart(text: string, at: number): number {
  for (let start = at; ; ) {
    // The character before `start` may consist of two code units.
    const character = String.fromCodePoint(text.codePointAt(start - 2) ?? 0)
    const previous = character.length === 2 ? character : text.charAt(start - 1)
    if (!ofWords.test(previous)) return start
    start -= previous.length
  }
}
