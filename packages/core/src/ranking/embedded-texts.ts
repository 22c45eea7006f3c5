import { beginningOf } from '../text/beginning-of.ts'
import { spokenText } from '../text/spoken-text.ts'
import { splitUnits } from './units.ts'

/**
 * What is embedded for each unit of a text (`splitUnits`). A turn is what was said. Each further part of another text
 * follows the beginning of its first line, mostly a title or the name of a function: a part alone says too little, or
 * too much about everything.
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
