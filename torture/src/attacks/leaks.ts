import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type HubProcess, startHub } from '../../../apps/hub/test/processes.ts'
import { noLimits } from '../../../apps/hub/test/support.ts'
import type { Attack } from '../attack.ts'
import { runRecall } from '../recall-process.ts'

const requestsPerUnit = 50
const clients = 8
/** What a heap that was not collected a moment ago may hold more than before. */
const mostGrowth = 1.5

/** Something that is used for long: `size` hooks, and fifty requests to a hub for each, after as many to warm up. */
export const leaks: Attack = {
  what: 'after many hooks and a loaded hub, memory, open files, processes and files on the disk are back to what they were',
  size: 1000,
  closed: () => (existsSync('/proc/self/fd') ? null : 'this system has no /proc to look into'),
  async round({ size, folder }) {
    const violations = [...(await runHooks(folder, size)), ...(await loadHub(folder, size))]
    return { counts: { hooks: size, requests: 2 * size * requestsPerUnit }, violations }
  },
}

async function runHooks(folder: string, count: number): Promise<string[]> {
  const root = join(folder, 'root')
  mkdirSync(root)
  const transcript = join(folder, 'session.jsonl')
  writeFileSync(transcript, `${JSON.stringify({ role: 'user', content: 'Where is the harbour?' })}\n`)
  const violations: string[] = []
  const events = ['session-start', 'prompt', 'stop', 'session-end']
  let halfway = 0
  for (let i = 0; i < count; i++) {
    const input = JSON.stringify({
      session_id: `s${i % 5}`,
      transcript_path: transcript,
      cwd: folder,
      prompt: 'where?',
    })
    const argv = ['hook', events[i % events.length] as string, '--root', root]
    const { by, err } = await runRecall(argv, { cwd: folder, input })
    if (by !== 0) violations.push(`hook ${argv[1]} ended with ${by}: ${err.slice(-200)}`)
    if (i === count >> 1) halfway = filesBelow(root)
  }
  // What the last ones left to processes of their own ends by itself.
  const deadline = Date.now() + 30_000
  while (processesWith(root) > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 50))
  const left = processesWith(root)
  if (left > 0) violations.push(`${left} processes of hooks still run`)
  const files = filesBelow(root)
  if (files > halfway + 4) violations.push(`${halfway} files after half of the hooks, ${files} after all`)
  return violations
}

async function loadHub(folder: string, size: number): Promise<string[]> {
  const config = join(folder, 'hub.json')
  writeFileSync(config, JSON.stringify(noLimits))
  const hub = await startHub({ DATA: join(folder, 'data'), EMBEDDING_PROVIDER: 'fake', CONFIG: config })
  try {
    const key = await register(hub)
    await load(hub, key, size * requestsPerUnit)
    const before = usageOf(hub)
    await load(hub, key, size * requestsPerUnit)
    const after = usageOf(hub)
    return [
      ...(after.bytes > before.bytes * mostGrowth
        ? [`the hub grew from ${before.bytes} to ${after.bytes} bytes`]
        : []),
      ...(after.files > before.files + clients
        ? [`the hub had ${before.files} files open, now ${after.files}`]
        : []),
    ]
  } finally {
    await hub.stop('SIGKILL')
  }
}

async function register({ url }: HubProcess): Promise<string> {
  const answer = await fetch(`${url}/api/v1/agents/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'ada' }),
  })
  return ((await answer.json()) as { api_key: string }).api_key
}

async function load({ url }: HubProcess, key: string, requests: number): Promise<void> {
  let left = requests
  const client = async (): Promise<void> => {
    while (left-- > 0) {
      const path =
        left % 3 === 0 ? '/memory/search?q=harbour' : left % 3 === 1 ? '/agents/me' : '/memory/RCL-00000000'
      await (
        await fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Bearer ${key}` } })
      ).arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

function usageOf({ pid }: HubProcess): { bytes: number; files: number } {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return { bytes: pages * 4096, files: readdirSync(`/proc/${pid}/fd`).length }
}

const filesBelow = (root: string): number => readdirSync(root, { recursive: true }).length

function processesWith(argument: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(argument)
    } catch {
      // It ended meanwhile.
      return false
    }
  }).length
}
