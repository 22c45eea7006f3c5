import { open } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readClaudeCodeTranscript } from '../src/index.ts'
import { jsonLines, messagesOf, temporaryFile, temporaryFolder } from './support.ts'

const megabyte = 1024 * 1024

function turn(number: number, outputLength: number): string {
  const line = (type: string, id: string, content: unknown) => ({
    type,
    uuid: `${id}-${number}`,
    sessionId: 'long',
    message: { role: type, content },
  })
  return jsonLines(
    line('user', 'u', `question ${number} é`),
    line('assistant', 'a', [
      { type: 'tool_use', id: `t${number}`, name: 'Bash', input: { command: 'make' } },
    ]),
    line('user', 'r', [
      { type: 'tool_result', tool_use_id: `t${number}`, content: 'x'.repeat(outputLength) },
    ]),
    line('assistant', 'b', [{ type: 'text', text: `answer ${number}` }]),
  )
}

it('reads a transcript of 100 MB in bounded memory', { timeout: 60_000 }, async () => {
  const path = join(await temporaryFolder(), 'long.jsonl')
  const file = await open(path, 'w')
  let turns = 0
  for (let written = 0; written < 100 * megabyte; ) {
    let block = ''
    while (block.length < megabyte) block += turn(++turns, 20_000)
    await file.write(block)
    written += block.length
  }
  await file.close()

  const conversation = await readClaudeCodeTranscript(path)
  const before = process.memoryUsage().rss
  let peak = before
  let count = 0
  for await (const _ of conversation.messages) {
    if (++count % 500 === 0) peak = Math.max(peak, process.memoryUsage().rss)
  }
  expect(count).toBe(turns * 4)
  expect((peak - before) / megabyte).toBeLessThan(80)
})

it('yields a prefix, and never fails, wherever an invented transcript is cut', async () => {
  const text = Buffer.from(
    [1, 2, 3].map((number) => turn(number, 30)).join('') +
      jsonLines(
        { type: 'queue-operation', operation: 'enqueue', content: 'typed ahead' },
        { type: 'queue-operation', operation: 'remove' },
        { type: 'user', uuid: 'u-1', message: { content: 'a copy' } },
      ),
  )
  const read = async (bytes: Uint8Array) =>
    messagesOf(await readClaudeCodeTranscript(await temporaryFile('cut.jsonl', bytes)))
  const all = await read(text)
  expect(all).toHaveLength(13)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: text.length }), async (length) => {
      const cut = await read(text.subarray(0, length))
      expect(cut).toEqual(all.slice(0, cut.length))
    }),
  )
})
