import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { PassThrough, Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { createDrainingStdio } from '../src/draining-stdio.ts'
import { stdioChild } from './support.ts'

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
  const answers: { id: number }[] = []
  for await (const line of createInterface(server.stdout)) answers.push(JSON.parse(line))
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3])
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
  ['nowhere to be seen', '{"method":"x",', '"params":{"id":1}}', undefined],
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
