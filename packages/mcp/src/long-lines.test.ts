import { expect, it } from 'vitest'
import { createLineReader, longestLine } from './long-lines.ts'

/** The lines of a stream that comes in chunks of this size, and the ids of the requests that were too long. */
function read(stream: string, chunkSize: number) {
  const ids: unknown[] = []
  const linesOf = createLineReader((id) => ids.push(id))
  const bytes = Buffer.from(stream)
  const lines: Buffer[] = []
  for (let from = 0; from < bytes.length; from += chunkSize)
    lines.push(...linesOf(bytes.subarray(from, from + chunkSize)))
  return { lines: lines.map(String), ids }
}

const lineOf = (begin: string, end: string, length: number): string =>
  `${begin}${'x'.repeat(length - begin.length - end.length)}${end}`
const chunkSizes = [64 * 1024, 4 * longestLine]

it.each(chunkSizes)('reads every line that is whole and not too long, in chunks of %d bytes', (chunkSize) => {
  const lines = ['{}\n', '\n', lineOf('{"id":1,', '}\n', longestLine), '{"id":2}\n']
  expect(read(`${lines.join('')}{`, chunkSize)).toEqual({ lines, ids: [] })
})

it.each(chunkSizes)('names the request in a line that is too long, in chunks of %d bytes', (chunkSize) => {
  const long = [
    lineOf('{"id":1,', '}\n', longestLine + 1),
    lineOf('{"jsonrpc":"2.0","id":"two","params":"', '"}\n', longestLine + 1),
    lineOf('{"params":"', '","id":-3,"jsonrpc":"2.0"}\n', longestLine + 1),
    lineOf('{"params":"', '"}\n', longestLine + 1),
  ]
  const { lines, ids } = read(`{"id":4}\n${long.join('{"id":5}\n')}{"id":6}\n`, chunkSize)
  expect(ids).toEqual([1, 'two', -3, undefined])
  expect(lines).toEqual(['{"id":4}\n', '{"id":5}\n', '{"id":5}\n', '{"id":5}\n', '{"id":6}\n'])
})
