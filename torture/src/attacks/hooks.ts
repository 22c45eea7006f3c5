import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Attack } from '../attack.ts'
import { type Held, median, megabytes, untilNoneRuns } from '../processes.ts'
import { runRecall } from '../recall-process.ts'

const events = ['session-start', 'prompt', 'stop', 'session-end']
const sessions = 5
/** Hosts that work in the same memory. */
const hosts = 2
/** The factor by which the use of a hook may grow: by the end its memory has some more sessions. */
const mostGrowth = 1.3

/** Hooks as hosts run them, one process for each event, on sessions that go on. */
export const hooks: Attack = {
  what: 'after many hooks, memory and open files of a hook, processes and files on the disk are what they were after the first ones',
  size: 1000,
  closed: () => (existsSync('/proc/self/fd') ? null : 'this system has no /proc to look into'),
  async round({ size, folder }) {
    const [root, transcript] = [join(folder, 'root'), join(folder, 'session.jsonl')]
    mkdirSync(root)
    writeFileSync(transcript, `${JSON.stringify({ role: 'user', content: 'Where is the harbour?' })}\n`)
    const { preload, read } = observer(folder)
    const violations: string[] = []
    const filesAt: number[] = []
    let next = 0
    const runHook = async (i: number): Promise<void> => {
      const event = events[i % events.length] as string
      const input = JSON.stringify({
        session_id: `s${i % sessions}`,
        transcript_path: transcript,
        cwd: folder,
        prompt: 'where?',
      })
      const { by, err } = await runRecall(['hook', event, '--root', root], { cwd: folder, input, preload })
      if (by !== 0) violations.push(`hook ${event} ended with ${by}: ${err.slice(-200)}`)
      if (i === size >> 1) filesAt.push(filesBelow(root))
    }
    const host = async (): Promise<void> => {
      while (next < size) await runHook(next++)
    }
    await Promise.all(Array.from({ length: hosts }, host))
    const left = await untilNoneRuns(root)
    if (left > 0) violations.push(`${left} processes of hooks still run`)
    filesAt.push(filesBelow(root))
    const [halfway = 0, atEnd = 0] = filesAt
    if (atEnd > halfway + 4) violations.push(`${halfway} files after half of the hooks, ${atEnd} after all`)

    const held = read()
    const tenth = Math.max(1, Math.floor(held.length / 10))
    const [first, last] = [held.slice(0, tenth), held.slice(-tenth)].map((part) => ({
      bytes: median(part.map(({ bytes }) => bytes)),
      files: median(part.map(({ files }) => files)),
    })) as [Held, Held]
    if (last.bytes > first.bytes * mostGrowth)
      violations.push(`hooks took ${megabytes(first.bytes)} MB, now ${megabytes(last.bytes)} MB`)
    if (last.files > first.files + 1)
      violations.push(`hooks had ${first.files} files open, now ${last.files}`)
    return {
      counts: { hooks: size },
      violations,
      measured: `a hook ends with ${megabytes(first.bytes)} MB and ${first.files} open files among the first tenth, ${megabytes(last.bytes)} MB and ${last.files} among the last; ${atEnd} files in the memory, ${halfway} half-way; 0 processes left`,
    }
  },
}

/** Makes each process record, when it ends, what it holds. */
function observer(folder: string): { preload: string; read(): Held[] } {
  const [preload, log] = [join(folder, 'observer.cjs'), join(folder, 'held.jsonl')]
  appendFileSync(log, '')
  writeFileSync(
    preload,
    `const fs = require('node:fs')
process.on('exit', () => {
  const held = { bytes: process.resourceUsage().maxRSS * 1024, files: fs.readdirSync('/proc/self/fd').length }
  fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify(held) + '\\n')
})
`,
  )
  const read = (): Held[] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Held)
  return { preload, read }
}

const filesBelow = (root: string): number => readdirSync(root, { recursive: true }).length
