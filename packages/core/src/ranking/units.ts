/** A piece of a text that is indexed and found on its own: a turn, a section, a few paragraphs. */
export interface Unit {
  /** Offset in the text, in UTF-16 units. */
  start: number
  end: number
  /** Lines of the text before the unit. */
  line: number
  /** How many units its turn was cut into; outside of conversations, how many the text was. */
  parts: number
}

type Cut = Omit<Unit, 'parts'>

/**
 * Texts up to this length, in UTF-16 units, are one unit; longer ones are cut before it, at a turn, a paragraph or a
 * line if possible. A unit fits into the 512 tokens of a small embedding model, which would cut the rest silently.
 */
const unitLength = 1600

/**
 * Cuts a text into units that together cover it whole. The same text always gives the same units.
 *
 * @param turns whether to cut at every `## ` and `### ` heading as well: archives have one for every turn
 */
export function splitUnits(text: string, turns: boolean): Unit[] {
  const starts = [0, ...(turns ? headingStarts(text) : [])]
  const cuts: Cut[] = []
  let line = 0
  let lineEnd = text.indexOf('\n')
  const add = (start: number, end: number): void => {
    for (; lineEnd >= 0 && lineEnd < start; lineEnd = text.indexOf('\n', lineEnd + 1)) line++
    cuts.push({ start, end, line })
  }
  starts.forEach((start, i) => {
    const end = starts[i + 1] ?? text.length
    for (let from = start; from < end; ) {
      const to = end - from <= unitLength ? end : cutBefore(text, from, from + unitLength)
      add(from, to)
      from = to
    }
  })
  const whole = turns ? groupTurns(text, cuts) : [cuts]
  return whole.flatMap((parts) => parts.map((cut) => ({ ...cut, parts: parts.length })))
}

/** The cuts of each turn: what is said may have headings of its own. */
function groupTurns(text: string, cuts: readonly Cut[]): Cut[][] {
  const turns: Cut[][] = []
  for (const cut of cuts) {
    turnHeading.lastIndex = cut.start
    const turn = turns.at(-1)
    if (turn && !turnHeading.test(text)) turn.push(cut)
    else turns.push([cut])
  }
  return turns
}

const turnHeading = /(?:### (?:User|Assistant)|## (?:Summary|Tags))[ \t]*\r?$/my

const headingStarts = (text: string): number[] => [...text.matchAll(/^#{2,3} /gm)].map(({ index }) => index)

/** The end of the last paragraph, line or word before `limit`, but not in the first half; never inside a character. */
function cutBefore(text: string, from: number, limit: number): number {
  // Only the second half is searched: otherwise a long line would be scanned whole for every unit.
  const half = from + unitLength / 2
  const tail = text.slice(half, limit)
  for (const mark of ['\n\n', '\n', ' ']) {
    const at = tail.lastIndexOf(mark)
    if (at >= 0) return half + at + mark.length
  }
  const code = text.charCodeAt(limit)
  return code >= 0xdc00 && code <= 0xdfff ? limit - 1 : limit
}
