import { CannotEdit, type FileEdit } from './target.ts'
import { shapeOf, withEol } from './text-shape.ts'

const begin = '<!-- recall:begin (written by recall init, removed by recall uninit) -->'
const end = '<!-- recall:end -->'

/**
 * A block of ours in a text file that belongs to others: between two marks, and at the end of the file when it is new.
 *
 * @param options.limit how many characters of the file the host reads
 * @param options.unit what the host counts, if it is not characters
 */
export function markedBlock(
  path: string,
  content: string,
  {
    limit = Number.POSITIVE_INFINITY,
    unit = 'characters',
  }: { limit?: number | undefined; unit?: 'characters' | 'bytes' | undefined } = {},
): FileEdit {
  const block = `${begin}\n${content.trimEnd()}\n${end}`

  return {
    path,
    byHand: block,
    add(text) {
      if (text === null) return `${block}\n`
      const { body, eol, restore } = shapeOf(text)
      const place = find(body)
      const ours = withEol(block, place ? shapeOf(body.slice(place.start, place.end)).eol : eol)
      const gap = body.trim() === '' ? '' : body.endsWith('\n') ? eol : eol + eol
      const changed = place
        ? body.slice(0, place.start) + ours + body.slice(place.end)
        : `${body}${gap}${ours}${eol}`
      const whole = restore(changed)
      const length = unit === 'bytes' ? Buffer.byteLength(whole) : whole.length
      if (length <= limit) return whole
      const tooMany = length - limit
      throw new CannotEdit(
        `it would have ${length} ${unit}, and the host reads ${limit} of them: take ${tooMany} out of it first`,
      )
    },
    remove(text) {
      const { body, restore } = shapeOf(text)
      const place = find(body)
      if (!place) return text
      const { eol } = shapeOf(body.slice(place.start, place.end))
      const before = body.slice(0, place.start)
      const after = body.slice(place.end)
      const rest = before.endsWith(eol + eol) ? before.slice(0, -eol.length) : before
      const left = `${rest}${after.startsWith(eol) ? after.slice(eol.length) : after}`
      return left.trim() === '' ? null : restore(left)
    },
  }
}

function find(body: string): { start: number; end: number } | null {
  const start = body.indexOf(begin)
  const last = start === -1 ? -1 : body.indexOf(end, start)
  if (start !== -1 && last === -1) throw new CannotEdit(`'${begin}' has no '${end}' after it`)
  return last === -1 ? null : { start, end: last + end.length }
}
