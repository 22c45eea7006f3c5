import type { RequestId } from '@modelcontextprotocol/server'

/** Longest message in bytes, including its line end. */
export const longestLine = 10 * 1024 * 1024

const newline = '\n'
/** Bytes kept of each end of a long line: more than an id and the text around it. */
const endSize = 256

/**
 * Splits a stream into lines, leaving out those that are too long, which would end the connection.
 *
 * @param onTooLong gets the id of the request in such a line, if it can be found
 * @returns a function from each chunk to the lines that end in it
 */
export function createLineReader(
  onTooLong: (id: RequestId | undefined) => void,
): (chunk: Buffer) => Buffer[] {
  let length = 0
  let parts: Buffer[] = []
  let head: Buffer = Buffer.alloc(0)
  let tail: Buffer = Buffer.alloc(0)

  const take = (part: Buffer): void => {
    length += part.length
    if (head.length < endSize) head = Buffer.concat([head, part.subarray(0, endSize - head.length)])
    tail = Buffer.concat([tail, part.subarray(-endSize)]).subarray(-endSize)
    if (length <= longestLine) parts.push(part)
    else parts = []
  }
  const finish = (): Buffer[] => {
    const lines = length > longestLine ? [] : [Buffer.concat(parts)]
    if (length > longestLine) onTooLong(idIn(head.toString(), tail.toString()))
    length = 0
    parts = []
    head = tail = Buffer.alloc(0)
    return lines
  }

  return (chunk) => {
    const lines: Buffer[] = []
    for (let from = 0; from < chunk.length; ) {
      const end = chunk.indexOf(newline, from)
      const part = chunk.subarray(from, end < 0 ? chunk.length : end + 1)
      take(part)
      if (end >= 0) lines.push(...finish())
      from += part.length
    }
    return lines
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
