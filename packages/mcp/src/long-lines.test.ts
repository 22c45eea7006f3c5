import { expect, it } from 'vitest'
import { createLongLineFilter, longestLine } from './long-lines.ts'

/** What remains of a stream that comes in chunks of this size, and the ids of the requests that were too long. */
function filtered(stream: string, chunkSize: number) {
  const ids: unknown[] = []
  const filter = createLongLineFilter((id) => ids.push(id))
  const bytes = Buffer.from(stream)
  const left: Buffer[] = []
  for (let from = 0; from < bytes.length; from += chunkSize)
    left.push(...filter(bytes.subarray(from, from + chunkSize)))
  return { left: Buffer.concat(left).toString(), ids }
}

const lineOf = (begin: string, end: string, length: number): string =>
  `${begin}${'x'.repeat(length - begin.length - end.length)}${end}`
const chunkSizes = [64 * 1024, 4 * longestLine]

it.each(chunkSizes)('keeps every line that is not too long, in chunks of %d bytes', (chunkSize) => {
  const stream = `{}\n\n${lineOf('{"id":1,', '}\n', longestLine)}{"id":2}\n{`
  expect(filtered(stream, chunkSize)).toEqual({ left: stream, ids: [] })
})

it.each(chunkSizes)('names the request in a line that is too long, in chunks of %d bytes', (chunkSize) => {
  const long = [
    lineOf('{"id":1,', '}\n', longestLine + 1),
    lineOf('{"jsonrpc":"2.0","id":"two","params":"', '"}\n', longestLine + 1),
    lineOf('{"params":"', '","id":-3,"jsonrpc":"2.0"}\n', longestLine + 1),
    lineOf('{"params":"', '"}\n', longestLine + 1),
  ]
  const { left, ids } = filtered(`{"id":4}\n${long.join('{"id":5}\n')}{"id":6}\n`, chunkSize)
  expect(ids).toEqual([1, 'two', -3, undefined])
  const read = left.split('\n').filter((line) => line !== '' && line.length < 1000)
  expect(read).toEqual(['{"id":4}', '{"id":5}', '{"id":5}', '{"id":5}', '{"id":6}'])
})
