import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { liftingStatement, watchSilence } from './watch-silence.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const silenceMs = 1000

/** A message: its letter, the length of the rest, and the rest. */
function message(letter: string, rest = ''): Buffer {
  const head = Buffer.from(`${letter}    `)
  head.writeUInt32BE(4 + rest.length, 1)
  return Buffer.concat([head, Buffer.from(rest)])
}

const query = (text: string): Buffer => message('Q', `${text}\0`)
const described = Buffer.concat([message('P', 'text'), message('D', 'S'), message('H')])
const bound = Buffer.concat([message('B', 'values'), message('E'), message('S')])
const ready = message('Z', 'I')
const readyWithin = message('Z', 'T')

/** A socket that has started, and whose server is ready. */
function started() {
  const socket = new Socket()
  vi.spyOn(socket, 'write').mockReturnValue(true)
  watchSilence(socket, silenceMs)
  const talk = {
    send: (...messages: Buffer[]) => void socket.write(Buffer.concat(messages)),
    receive(...pieces: Buffer[]) {
      for (const piece of pieces) socket.emit('data', piece)
    },
    isCut: () => socket.destroyed,
  }
  socket.write(Buffer.from('startup message'))
  talk.receive(message('R', 'rest'), ready)
  return talk
}

/** After the silence a connection is still left alone until nothing is written any more. */
async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms)
  await setImmediate()
  vi.advanceTimersByTime(100)
}

it('cuts a connection whose server owes an answer and is silent', async () => {
  const { send, isCut } = started()
  send(query('select 1'))
  await pass(silenceMs - 1)
  // What is sent meanwhile is no sign of life.
  send(query('select 2'))
  expect(isCut()).toBe(false)
  await pass(1)
  expect(isCut()).toBe(true)
})

it('cuts one whose server does not answer the startup message', async () => {
  const socket = new Socket()
  vi.spyOn(socket, 'write').mockReturnValue(true)
  watchSilence(socket, silenceMs)
  socket.write(Buffer.from('startup message'))
  await pass(silenceMs)
  expect(socket.destroyed).toBe(true)
})

it('leaves a connection alone that is asked nothing, within a transaction too', async () => {
  const { send, receive, isCut } = started()
  await pass(10 * silenceMs)
  send(query('begin'))
  receive(message('C', 'BEGIN\0'), readyWithin)
  await pass(10 * silenceMs)
  send(described)
  receive(message('1'), message('t', '\0\0'), message('n'))
  send(bound)
  receive(message('2'), message('C', 'UPDATE 1\0'), readyWithin)
  await pass(10 * silenceMs)
  // The end of a connection has no answer.
  send(message('X'))
  await pass(10 * silenceMs)
  expect(isCut()).toBe(false)
})

it.each([
  ['a description', [described], []],
  ['an answer after its description', [described, bound], [message('t', '\0\0')]],
  ['the second of two answers', [query('select 1'), query('select 2')], [message('C'), ready]],
  ['the answer behind one that fails', [bound, bound], [message('E', 'SERROR\0'), ready]],
])('waits for %s', async (_, sent, received) => {
  const { send, receive, isCut } = started()
  for (const each of sent) send(each)
  receive(...received)
  await pass(silenceMs)
  expect(isCut()).toBe(true)
})

it('finds the end of an answer however it is cut into pieces', async () => {
  const answer = Buffer.concat([
    message('D', 'a row that holds Z\0\0\0\x05I'),
    message('C', 'SELECT 1\0'),
    ready,
  ])
  for (let size = 1; size <= answer.length; size++) {
    const { send, receive, isCut } = started()
    send(query('select 1'))
    for (let at = 0; at < answer.length; at += size) receive(answer.subarray(at, at + size))
    await pass(silenceMs)
    expect(isCut()).toBe(false)
    send(query('select 2'))
    receive(answer.subarray(0, -1))
    await pass(silenceMs)
    expect(isCut()).toBe(true)
  }
})

it('waits as long as it takes while the time limit of a transaction is lifted', async () => {
  const { send, receive, isCut } = started()
  for (const statement of ['begin', liftingStatement, 'create index']) {
    send(query(statement))
    await pass(statement === 'create index' ? 10 * silenceMs : 0)
    receive(message('C'), readyWithin)
  }
  expect(isCut()).toBe(false)
  send(query('commit'))
  receive(message('C'), ready)
  send(query('select 1'))
  await pass(silenceMs)
  expect(isCut()).toBe(true)
})
