import { readdirSync, readFileSync, statSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { type CorpusQuery, createCorpus } from '../corpus.ts'
import { median, quantile } from '../statistics.ts'
import { type PeerName, peers } from './index.ts'

/** What a separate process measures of one peer: `measured-child.js <peer> <phase> <folder> <input> [round]`. */
export type Phase = 'build' | 'cold' | 'warm'

/** Read from a file, so that the corpus does not count towards the memory of the process that searches it. */
export interface Input {
  size: number
  seed: number
  queries: CorpusQuery[]
}

export interface Built {
  /** From the first memory to the answer of the first search. */
  buildMs: number
  diskBytes: number
  /** Of the texts alone. */
  textBytes: number
}

export interface Warm {
  p50: number
  p95: number
  /** The share of all queries whose own memory was among the ten. */
  found: number
  asked: number
  putMs: number
  putAndFindMs: number
  /** Peak of the process that holds the store; null if no process lasts. */
  megabytes: number | null
  /** Network connections that this process opened; null if another process does the work. */
  connections: number | null
}

/** A slow peer answers as many of the 200 queries as fit into this, but at least twenty. */
const queryBudgetMs = 8000
const putBudgetMs = 4000
const warmUps = 10
const mostPuts = 30

const [name, phase, folder, inputPath, round] = process.argv.slice(2) as [
  PeerName,
  Phase,
  string,
  string,
  string,
]
const { size, seed, queries } = JSON.parse(readFileSync(inputPath, 'utf8')) as Input
const queryOf = (i: number): CorpusQuery => queries[i % queries.length] as CorpusQuery

let connections = 0
const { connect } = Socket.prototype
Socket.prototype.connect = function (this: Socket, ...args: unknown[]) {
  connections++
  return Reflect.apply(connect, this, args) as Socket
}

const peer = await peers[name]()
const phases = { build, cold, warm }
process.stdout.write(`${JSON.stringify(await phases[phase]())}\n`)
process.exit(0)

async function build(): Promise<Built> {
  const { documents } = createCorpus(size, seed)
  const opened = await peer.open(folder)
  const started = performance.now()
  await opened.putAll(documents)
  await opened.search(queryOf(0).text)
  const buildMs = performance.now() - started
  await opened.close()
  const textBytes = documents.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return { buildMs, diskBytes: bytesIn(folder), textBytes }
}

/** The process is ended at once: its parent times the whole process. */
async function cold(): Promise<{ found: number }> {
  const opened = await peer.open(folder)
  const found = (await opened.search(queryOf(Number(round)).text)).length
  if (opened.pid) await opened.close()
  return { found }
}

async function warm(): Promise<Warm> {
  // Documents of another seed are new.
  const { documents: fresh } = createCorpus(mostPuts, seed + 1)
  const opened = await peer.open(folder)
  for (const { text } of queries.slice(0, warmUps)) await opened.search(text)
  const times: number[] = []
  let found = 0
  const queryingUntil = performance.now() + queryBudgetMs
  for (const { key, text } of queries) {
    if (times.length >= 20 && performance.now() > queryingUntil) break
    const started = performance.now()
    const keys = await opened.search(text)
    times.push(performance.now() - started)
    if (keys.includes(key)) found++
  }
  const megabytes = opened.pid === 0 ? null : peakMegabytes(opened.pid ?? process.pid)
  const putTimes: number[] = []
  const findTimes: number[] = []
  const puttingUntil = performance.now() + putBudgetMs
  for (const [i, document] of fresh.entries()) {
    if (putTimes.length >= 3 && performance.now() > puttingUntil) break
    const started = performance.now()
    await opened.put({ ...document, key: `fresh-${process.pid}-${i}` })
    putTimes.push(performance.now() - started)
    await opened.search(document.text.split(' ').slice(0, 2).join(' '))
    findTimes.push(performance.now() - started)
  }
  await opened.close()
  return {
    p50: quantile(times, 0.5),
    p95: quantile(times, 0.95),
    found: found / times.length,
    asked: times.length,
    putMs: median(putTimes),
    putAndFindMs: median(findTimes),
    megabytes,
    connections: opened.pid === undefined ? connections : null,
  }
}

/** As counted by Linux. */
function peakMegabytes(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

function bytesIn(path: string): number {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name: file }) => sum + statSync(join(parentPath, file)).size, 0)
}
