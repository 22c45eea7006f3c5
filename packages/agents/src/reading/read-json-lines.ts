import { parseJson } from '../json.ts'
import { type ReadLinesOptions, readLines } from './read-lines.ts'
import { type Skip, skippedKinds } from './skipped.ts'

export interface JsonLine {
  number: number
  value: unknown
}

/** Bytes that a host reserved in a file but did not fill precede what it wrote later. */
const reserved = /^\0+/

/** The JSON values of a file, one per line. A line that does not parse is counted and skipped, never thrown. */
export async function* readJsonLines(
  path: string,
  skip: Skip,
  options?: ReadLinesOptions,
): AsyncGenerator<JsonLine, void> {
  for await (const line of readLines(path, options)) {
    if (line.text === null) {
      skip(skippedKinds.tooLong)
      continue
    }
    const text = line.text.replace(reserved, '')
    if (text.trim() === '') continue
    if (line.damaged) skip(skippedKinds.invalidUtf8)
    const parsed = parseJson(text)
    if (parsed !== undefined) yield { number: line.number, value: parsed }
    else skip(line.ended ? skippedKinds.unreadable : skippedKinds.halfWritten)
  }
}

/** The first value that can be read; `undefined` when there is none. */
export async function firstValue(path: string): Promise<unknown> {
  for await (const { value } of readJsonLines(path, () => {})) return value
  return undefined
}
