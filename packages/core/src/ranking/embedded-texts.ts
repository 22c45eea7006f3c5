import { beginningOf } from '../text/beginning-of.ts'
import { spokenText } from '../text/spoken-text.ts'
import { splitUnits } from './units.ts'

/**
 * The text to embed for each unit of a text (`splitUnits`). Of a turn, it is what was said. In any other text, each
 * part after the first is preceded by the beginning of the first line, usually a title or the name of a function: a
 * part alone says too little about its subject, or too much about everything else.
 *
 * @param turns as for `splitUnits`
 */
export function embeddedTexts(text: string, turns: boolean): string[] {
  const units = splitUnits(text, turns).map(({ start, end }) => spokenText(text.slice(start, end)))
  if (turns) return units
  const [firstLine = ''] = /\S.*/.exec(text) ?? []
  const title = beginningOf(firstLine.trimEnd(), titleLength)
  return units.map((unit, i) => (i === 0 ? unit : `${title}\n${unit}`))
}

/** In UTF-16 units. */
const titleLength = 120
