import type { RequestId } from '@modelcontextprotocol/server'

/** Longest message in bytes, with the end of its line. */
export const longestLine = 10 * 1024 * 1024

const newline = Buffer.from('\n')
/** Of each end of a line, more than an id and what stands around it. */
const endSize = 256

/**
 * Takes out of a stream the lines that are too long, which would end the connection.
 *
 * @param onTooLong is given the id of the request in such a line, where it can be told
 * @returns a function from each chunk to the parts of it that remain
 */
export function createLongLineFilter(
  onTooLong: (id: RequestId | undefined) => void,
): (chunk: Buffer) => Buffer[] {
  let length = 0
  let head: Buffer = Buffer.alloc(0)
  let tail: Buffer = Buffer.alloc(0)

  const take = (part: Buffer): Buffer[] => {
    const before = length
    length += part.length
    if (head.length < endSize) head = Buffer.concat([head, part.subarray(0, endSize - head.length)])
    tail = Buffer.concat([tail, part.subarray(-endSize)]).subarray(-endSize)
    if (length <= longestLine) return [part]
    // What was handed on of the line ends here: it is no JSON, and passed over.
    return before > 0 && before <= longestLine ? [newline] : []
  }
  const finish = (): void => {
    if (length > longestLine) onTooLong(idIn(head.toString(), tail.toString()))
    length = 0
    head = tail = Buffer.alloc(0)
  }

  return (chunk) => {
    const left: Buffer[] = []
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(newline, from)
      const part = chunk.subarray(from, end < 0 ? chunk.length : end + 1)
      left.push(...take(part))
      if (end >= 0) finish()
      from += part.length
    }
    return left
  }
}

const id = String.raw`"id":\s*(-?\d{1,15}|"[^"\\]{0,100}")`
const first = new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc":\s*"2\.0",\s*)?${id}\s*,`)
const last = new RegExp(String.raw`,\s*${id}\s*(?:,\s*"jsonrpc":\s*"2\.0"\s*)?\}\s*$`)

/** Hosts write the id at either end of a request. */
function idIn(head: string, tail: string): RequestId | undefined {
  const found = (first.exec(head) ?? last.exec(tail))?.[1]
  return found === undefined ? undefined : (JSON.parse(found) as RequestId)
}
