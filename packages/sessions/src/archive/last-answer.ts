import { redactText } from '@recall/core'
import { trackFence } from '@recall/core/text'
import { clip, oneLine } from '../summary/clip.ts'
import { splitTurns, turnsSection } from './render-archive.ts'

/** Characters of an answer to show. Of `readLength` characters, secrets are looked for: the longest key is shorter. */
const longestAnswer = 400
const readLength = 10_000

/** A quote of a tool, as `renderTurn` writes it. */
const toolQuote = /(?:^|\n)> \[(?:tool|output|failed output)\] [^\n]*(?:\n>[^\n]*)*/g
const tableRow = /^[ \t]*\|.*$/gm
/** The marks before a heading, and rules. */
const headingMarks = /^#{1,6}[ \t]+|^[ \t]*(?:[-*_][ \t]*){3,}$/gm

/**
 * What the assistant said last in an archive, after all its tools, on one line and without code and tables: it usually
 * tells where the session stood. Empty when the assistant said nothing.
 */
export function lastAnswer(body: string): string {
  for (const turn of splitTurns(turnsSection(body)).reverse()) {
    const said = turn.startsWith('### Assistant') ? lastSaid(turn) : ''
    // A person may have typed a secret into the archive: a cut could leave half of it, which nothing recognises.
    if (said !== '') return clip(redactText(said.slice(0, readLength)).text, longestAnswer)
  }
  return ''
}

function lastSaid(turn: string): string {
  const texts = turn
    .slice(turn.indexOf('\n') + 1)
    .split(toolQuote)
    .map(plain)
  return texts.findLast((text) => text !== '') ?? ''
}

const plain = (text: string): string =>
  oneLine(withoutCode(text).replace(tableRow, '').replace(headingMarks, ''))

/** Without fenced code, even if its end is missing. */
function withoutCode(text: string): string {
  const partOfCode = trackFence()
  return text
    .split('\n')
    .filter((line) => partOfCode(line) === null)
    .join('\n')
}
