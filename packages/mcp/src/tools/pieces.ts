import { MemoryError, MemoryErrorCode } from '@recall/core'
import { beginningOf } from '@recall/core/text'
import * as z from 'zod'

/** Longest piece that is read at once, in characters. */
export const pieceLength = 12_000

export const offsetSchema = z.number().int().min(0).default(0)

/** The members of a result that holds a piece of a text, besides the piece. */
export const pieceShape = {
  length: z.number().describe('characters in total'),
  nextOffset: z.number().optional().describe('absent at the end'),
}

/**
 * The piece of a text that begins at an offset.
 *
 * @throws MemoryError INVALID_INPUT when the offset is past the end
 */
export function pieceAt(
  whole: string,
  offset: number,
): { piece: string; place: { length: number; nextOffset?: number } } {
  if (offset > whole.length) {
    throw new MemoryError(`offset ${offset} is past the end, ${whole.length}`, MemoryErrorCode.INVALID_INPUT)
  }
  const start = beginningAt(whole, offset)
  const piece = beginningOf(whole.slice(start), pieceLength)
  const next = start + piece.length
  return { piece, place: { length: whole.length, ...(next < whole.length ? { nextOffset: next } : {}) } }
}

/** The start of the character that an offset may fall into the middle of. */
const beginningAt = (text: string, offset: number): number =>
  /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(Math.max(0, offset - 1), offset + 1))
    ? offset - 1
    : offset
