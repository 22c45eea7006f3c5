import { isAscii } from '../text/ascii.ts'
import { lazily } from '../text/lazily.ts'
import { isBeyondLatin, isUnspaced, unspacedCharacter, unspacedWords } from './unspaced-words.ts'

/**
 * The words inside an identifier that is written without separators: `searchMemories` holds `search` and
 * `Memories`, `HTTPServer` holds `HTTP` and `Server`. None for any other word: `snake_case` and paths are split at
 * their separators anyway.
 */
export function identifierWords(word: string): string[] {
  const { hump, part } = isAscii(word) ? asciiPatterns : patterns()
  if (!hump.test(word)) return []
  return (word.match(part) ?? []).filter((each) => each.length > 1)
}

/** `hump`: a capital after a small letter, or a capitalised word after capitals. */
const patterns = lazily(() => ({
  hump: /\p{Ll}\p{Lu}|\p{Lu}\p{Lu}\p{Ll}/u,
  part: /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu,
}))
const asciiPatterns = { hump: /[a-z][A-Z]|[A-Z]{2}[a-z]/, part: /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g }

/** The words inside a run of letters: those of an identifier, or of a sentence in a script without spaces. */
export const innerWords = (run: string): string[] =>
  isUnspaced(run) ? unspacedWords(run) : identifierWords(run)

/** The `innerWords` of a text, joined by spaces, for engines that split texts themselves; '' when there are none. */
export function wordsInIdentifiers(text: string): string {
  const words: string[] = []
  const marks = isBeyondLatin(text) ? humpsAndScripts() : humps()
  // Jumps from hump to hump: looking at every word would take as long as indexing the text.
  for (let hump = nextHump(text, 0, marks); hump !== -1; ) {
    const end = wordEnd(text, hump)
    // No spread into `push`: a sentence without spaces may be as long as the text and overflow the stack.
    for (const word of innerWords(text.slice(wordStart(text, hump), end))) words.push(word)
    hump = nextHump(text, end, marks)
  }
  return words.join(' ')
}

const ofWords = lazily(() => /[\p{L}\p{N}\p{M}\p{Co}]/u)
const humps = lazily(() => new RegExp(patterns().hump, 'gu'))
const humpsAndScripts = lazily(
  () => new RegExp(`${humps().source}|(?=${ofWords().source})${unspacedCharacter}`, 'gu'),
)
const restOfWord = lazily(() => new RegExp(`${ofWords().source}*`, 'uy'))

function nextHump(text: string, from: number, marks: RegExp): number {
  marks.lastIndex = from
  return marks.exec(text)?.index ?? -1
}

function wordEnd(text: string, at: number): number {
  const rest = restOfWord()
  rest.lastIndex = at
  rest.test(text)
  return rest.lastIndex
}

function wordStart(text: string, at: number): number {
  for (let start = at; ; ) {
    // The character before `start` may consist of two code units.
    const character = String.fromCodePoint(text.codePointAt(start - 2) ?? 0)
    const previous = character.length === 2 ? character : text.charAt(start - 1)
    if (!ofWords().test(previous)) return start
    start -= previous.length
  }
}
