import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Transport } from '@modelcontextprotocol/server'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createDrainingStdio } from '../src/draining-stdio.ts'
import { stdioChild } from './support.ts'

const error = { code: -32603, message: 'it failed' }
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

it('answers what was asked before the input ended, and leaves then', async () => {
  const args = ['--import', 'tsx', '-C', '@recall/source', stdioChild]
  const server = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const clientInfo = { name: 'test', version: '1' }
  const request = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
  server.stdin.end(
    request(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }) +
      request(2, 'tools/call', { name: 'hub_search', arguments: { query: 'slow' } }) +
      request(3, 'tools/call', { name: 'memory_remember', arguments: { text: 'kept', key: 'k' } }) +
      // Nothing is owed for these.
      request(4, 'tools/call', { name: 'hub_search', arguments: { query: 'slow' } }) +
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 4 } })}\n` +
      'no JSON\n{"jsonrpc":',
  )
  const answers: { id: number | null }[] = []
  for await (const line of createInterface(server.stdout)) answers.push(JSON.parse(line))
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3, null])
})

it('answers what was asked before it began to read, when the input has ended', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  transport.onmessage = async () => {
    await new Promise(setImmediate)
    await transport.send({ jsonrpc: '2.0', id: 1, result: {} })
  }
  stdin.end(ping)
  await new Promise(setImmediate)
  await transport.start()
  await ended
  expect(await text(stdout.end())).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
})

it('answers what was asked before the input broke, and leaves then', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  const errors: Error[] = []
  transport.onerror = (error) => errors.push(error)
  transport.onmessage = () => {
    stdin.destroy(new Error('the terminal is gone'))
    stdin.once('close', () => void transport.send({ jsonrpc: '2.0', id: 1, result: {} }))
  }
  await transport.start()
  stdin.write(ping)
  await ended
  expect(await text(stdout.end())).toBe('{"jsonrpc":"2.0","id":1,"result":{}}\n')
  expect(errors).toMatchObject([{ message: 'the terminal is gone' }])
})

it.each([
  ['first', `{"jsonrpc":"2.0","id":"long",`, '"method":"x"}', 'long'],
  ['last', '{"method":"x",', `"params":{"id":1},"jsonrpc": "2.0", "id": 7}`, 7],
  ['nowhere to be seen', '{"method":"x",', '"params":{"id":1}}', null],
])('refuses a message that is too long, with its id %s, and goes on', async (_, begin, end, id) => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  transport.onmessage = (message) => void transport.send({ jsonrpc: '2.0', id: 1, result: { message } })
  await transport.start()
  stdin.write(ping + begin)
  for (let megabytes = 0; megabytes < 21; megabytes++) stdin.write(`"a":"${' '.repeat(1024 * 1024)}",`)
  stdin.end(`${end}\n${ping}`)
  await ended
  const answers: { id?: unknown; error?: object }[] = (await text(stdout.end()))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(answers.map((answer) => answer.id)).toEqual([1, id, 1])
  expect(answers[1]?.error).toEqual({ code: -32600, message: 'a message of more than 10 MB is not read' })
})

it('refuses what is no message, as over HTTP, and goes on', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  transport.onmessage = () => void transport.send({ jsonrpc: '2.0', id: 1, result: {} })
  await transport.start()
  const noMessages = ['[]', '7', '{"jsonrpc":"2.0","id":null,"method":"ping"}', '{"id":9,"method":"ping"}']
  // Nothing is owed for a blank line, nor for an answer, even a broken one.
  const ignored = ['', ' \r', '{"id":null,"error":{"code":-32600,"message":"no"}}', '{"id":9,"result":{}}']
  stdin.end([...ignored, 'not json', ...noMessages, ping].join('\n'))
  await ended
  const answers = (await text(stdout.end()))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: unknown; error?: { code: number } })
  expect(answers.map(({ id, error: told }) => [id, told?.code])).toEqual([
    [null, -32700],
    ...noMessages.map(() => [null, -32600]),
    [1, undefined],
  ])
})

/** A transport whose output has just broken, after it was asked something. */
async function whoseReaderLeft() {
  const stdin = new PassThrough()
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(new Error('the reader is gone')) })
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  transport.onmessage = () => void transport.send({ jsonrpc: '2.0', id: 1, result: {} }).catch(() => {})
  await transport.start()
  stdin.write(ping)
  await new Promise((resolve) => stdout.once('close', resolve))
  return { stdin, ended }
}

it('leaves when nobody takes its answers, also while its input stays open', async () => {
  const { stdin, ended } = await whoseReaderLeft()
  await ended
  // An open input would keep the process alive.
  expect(stdin.destroyed).toBe(true)
})

it('leaves when nobody takes its answers, whatever else was asked', async () => {
  const { stdin, ended } = await whoseReaderLeft()
  stdin.end(ping)
  await ended
})

it('leaves when nobody takes the refusal of a message that is too long', async () => {
  const stdin = new PassThrough()
  const gone = new Error('the reader is gone')
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(gone) })
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  const errors: Error[] = []
  transport.onerror = (error) => errors.push(error)
  await transport.start()
  for (let megabytes = 0; megabytes < 11; megabytes++) stdin.write(' '.repeat(1024 * 1024))
  stdin.write('\n')
  await ended
  expect(errors).toContain(gone)
})

function stopTime(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** A transport that waits for the answer to a request, after its input has ended. */
async function waiting() {
  stopTime()
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const { transport, ended } = createDrainingStdio(stdin, stdout)
  await transport.start()
  stdin.end(ping)
  for (let turn = 0; turn < 100 && vi.getTimerCount() === 0; turn++) await new Promise(setImmediate)
  return { transport, stdout, ended }
}

it('waits ten seconds for an answer after the input has ended, and no longer', async () => {
  const { stdout, ended } = await waiting()
  const left = vi.fn()
  const leaving = ended.then(left)
  await vi.advanceTimersByTimeAsync(9999)
  await new Promise(setImmediate)
  expect(left).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  await leaving
  expect(stdout.readableLength).toBe(0)
})

it.each([
  ['the answer is given', (transport: Transport) => transport.send({ jsonrpc: '2.0', id: 1, result: {} })],
  ['a failure is given', (transport: Transport) => transport.send({ jsonrpc: '2.0', id: 1, error })],
  [
    'it is one that cannot be written',
    (transport: Transport) =>
      transport.send({ jsonrpc: '2.0', id: 1, result: { count: 1n } }).catch(() => {}),
  ],
  ['the connection is closed', (transport: Transport) => transport.close()],
])('waits no longer once %s', async (_, end) => {
  const { transport, ended } = await waiting()
  await transport.send({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })
  expect(vi.getTimerCount()).toBe(1)
  await end(transport)
  await ended
  // What is left would keep the process alive.
  expect(vi.getTimerCount()).toBe(0)
})

it('waits for no answer to what was cancelled', async () => {
  stopTime()
  const stdin = new PassThrough()
  const { transport, ended } = createDrainingStdio(stdin, new PassThrough())
  await transport.start()
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  stdin.end(`${ping}${JSON.stringify(cancelled)}\n`)
  await ended
})

it('waits for no answer to a subscription', async () => {
  stopTime()
  const stdin = new PassThrough()
  const { transport, ended } = createDrainingStdio(stdin, new PassThrough())
  await transport.start()
  stdin.end('{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen"}\n')
  await ended
})
