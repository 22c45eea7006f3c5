import { expect, it } from 'vitest'
import { readBody } from './read-body.ts'

it('gives the text of an answer, whatever pieces it comes in', async () => {
  const bytes = new TextEncoder().encode('{"a": "日本"}')
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]))
      controller.close()
    },
  })
  expect(await readBody(new Response(body), bytes.length)).toBe('{"a": "日本"}')
  expect(await readBody(new Response(null), 0)).toBe('')
  expect(await readBody(new Response(bytes.slice(0, 8)), bytes.length)).toBe('{"a": "\ufffd')
})

it('stops a server that does not', async () => {
  let isStopped = false
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1000)),
    cancel() {
      isStopped = true
    },
  })
  await expect(readBody(new Response(endless), 100_000)).rejects.toThrow('more than 100000 bytes')
  expect(isStopped).toBe(true)
})
