import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFile, temporaryFolder, zstandard } from '../../test/support.ts'
import { chunksOf } from './chunks.ts'
import { readLines } from './read-lines.ts'

const megabyte = 1024 * 1024

/** What `zstd -19` makes of `first line`, `second line` and 5,000 times `x`, each on a line. */
const compressed = Buffer.from('KLUv/QRo7QAAmGZpcnN0IGxpbmUKc2Vjb25keAoCAITjdvFYWQLi61Cb', 'base64')

const textsOf = async (path: string, chunkBytes?: number): Promise<(string | null)[]> => {
  const texts: (string | null)[] = []
  for await (const { text } of readLines(path, chunkBytes === undefined ? {} : { chunkBytes }))
    texts.push(text)
  return texts
}

describe('a file that is compressed with Zstandard', () => {
  it('is read as what it holds, whatever its name', async () => {
    const path = await temporaryFile('session.jsonl', compressed)
    expect(await textsOf(path)).toEqual(['first line', 'second line', 'x'.repeat(5000)])
  })

  it('is read whole where one block is more than what is decompressed at once', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `line ${i}`)
    const path = await temporaryFile('session.jsonl.zst', zstandard(`${lines.join('\n')}\n`))
    expect(await textsOf(path)).toEqual(lines)
  })

  it('is read to its end, also where it was added to', async () => {
    const path = await temporaryFile('session.jsonl.zst', Buffer.concat([compressed, compressed]))
    expect(await textsOf(path)).toHaveLength(6)
  })

  it('can be left before its end', async () => {
    for await (const { text } of readLines(await temporaryFile('session.jsonl.zst', compressed))) {
      expect(text).toBe('first line')
      break
    }
  })

  it.each([
    ['cut', compressed.subarray(0, -9)],
    ['changed', Buffer.concat([compressed.subarray(0, 9), Buffer.alloc(compressed.length - 9, 7)])],
    ['followed by something else', Buffer.concat([compressed, Buffer.from('more')])],
  ])('is refused when it is %s', async (_, bytes) => {
    const path = await temporaryFile('session.jsonl.zst', bytes)
    await expect(textsOf(path)).rejects.toMatchObject({
      code: 'MEMORY_CORRUPTION',
      message: expect.stringContaining(`${path} is compressed and damaged`),
    })
  })

  it('is in memory only in part, however much it stands for', async () => {
    const path = await temporaryFile('session.jsonl.zst', zeros(256 * megabyte))
    const file = await open(path)
    onTestFinished(() => file.close())
    const read = vi.spyOn(file, 'read')
    let total = 0
    let sinceRead = 0
    let most = 0
    for await (const { length } of chunksOf(file, path, megabyte)) {
      if (read.mock.calls.length > 0) sinceRead = 0
      read.mockClear()
      sinceRead += length
      most = Math.max(most, sinceRead)
      total += length
    }
    expect(total).toBe(256 * megabyte)
    expect(most).toBeLessThanOrEqual(64 * megabyte)
  })
})

/** A frame of as many zeros, in blocks of a byte that is repeated. */
function zeros(length: number): Buffer {
  const block = 128 * 1024
  const header = Buffer.from('28b52ffd0060', 'hex')
  const blocks = Array.from({ length: length / block }, (_, i) => {
    const isLast = (i + 1) * block === length ? 1 : 0
    const bytes = Buffer.alloc(4)
    bytes.writeUIntLE(block * 8 + 1 * 2 + isLast, 0, 3)
    return bytes
  })
  return Buffer.concat([header, ...blocks])
}

it('reads what only begins like a compressed file', async () => {
  const path = join(await temporaryFolder(), 'short')
  await writeFile(path, Buffer.from('28b52f', 'hex'))
  expect(await textsOf(path)).toHaveLength(1)
})

it('reads the lines of a part of a file, and tells where each begins', async () => {
  const path = await temporaryFile('log', 'é\r\ntwo\n\nfour')
  const read = async (part?: { start: number; end?: number }) => {
    const lines: [string | null, number][] = []
    for await (const { text, start } of readLines(path, { chunkBytes: 2, part })) lines.push([text, start])
    return lines
  }
  const all = [
    ['é', 0],
    ['two', 4],
    ['', 8],
    ['four', 9],
  ]
  expect(await read()).toEqual(all)
  expect(await read({ start: 4 })).toEqual(all.slice(1))
  expect(await read({ start: 4, end: 9 })).toEqual(all.slice(1, 3))
  expect(await read({ start: 20 })).toEqual([])
})
