import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'
import { openPlainHub, type PlainHub } from '../plain-hub.ts'
import { heldBy, median, megabytes } from '../processes.ts'

const clients = 8
/** Pause between the requests of a client, in milliseconds. */
const pauseMs = 5
const texts = 200
/** Requests of each client until a hub is warm. */
const warmAfter = 20
/** Connections that a hub opens to its database on demand. */
const pool = 10
/** Connections of the observer. */
const ownConnections = 2
/** The factor by which a heap that has not just been collected may grow. */
const mostGrowth = 1.5
const sampleMs = 250

interface Sample {
  bytes: number
  files: number
  connections: number
}

/** A hub under constant requests, for `size` seconds after it has warmed up. */
export const load: Attack = {
  what: 'a hub under load holds no more memory, files and connections at the end than when it was warm',
  size: 60,
  closed: () => (existsSync('/proc/self/fd') ? null : 'this system has no /proc to look into'),
  async round({ size, folder }) {
    const hub = await openPlainHub(folder)
    const violations: string[] = []
    let [requests, refused] = [0, 0]
    try {
      const keys = await Promise.all(Array.from({ length: clients }, (_, i) => hub.register(`agent-${i}`)))
      const askWhile = (goesOn: (n: number) => boolean): Promise<unknown> =>
        Promise.all(
          keys.map(async (key) => {
            for (let n = 0; goesOn(n); n++) {
              const status = await ask(hub, key, n)
              requests++
              if (status === 503) refused++
              else if (![200, 201, 404].includes(status))
                violations.push(`request ${n} was answered ${status}`)
              await pause(pauseMs)
            }
          }),
        )
      await askWhile((n) => n < warmAfter)
      const started = performance.now()
      const isOver = (): boolean => performance.now() - started > size * 1000
      const [samples] = await Promise.all([observe(hub, isOver), askWhile(() => !isOver())])
      const idle = await hub.untilIdle()
      const tenth = Math.max(1, Math.floor(samples.length / 10))
      const [warm, end] = [medians(samples.slice(0, tenth)), medians(samples.slice(-tenth))]
      const most = Math.max(...samples.map(({ files }) => files))
      if (end.bytes > warm.bytes * mostGrowth)
        violations.push(`the hub grew from ${megabytes(warm.bytes)} to ${megabytes(end.bytes)} MB`)
      if (most > warm.files + clients + pool) violations.push(`${warm.files} files were open, then ${most}`)
      if (idle.files > most)
        violations.push(`${idle.files} files are open when nobody asks, ${most} at most under load`)
      if (end.connections > pool + ownConnections)
        violations.push(`there are ${end.connections} connections to the database`)
      if (refused > requests / 100) violations.push(`${refused} of ${requests} requests were refused`)
      return {
        counts: { seconds: size, requests },
        violations,
        measured: `the hub holds ${megabytes(warm.bytes)} MB, ${warm.files} files and ${warm.connections} connections to the database when warm; ${megabytes(end.bytes)} MB, ${end.files} and ${end.connections} at the end; ${idle.files} files when nobody asks any more; ${refused} requests answered 503`,
      }
    } finally {
      await hub.close()
    }
  },
}

const medians = (samples: readonly Sample[]): Sample => ({
  bytes: median(samples.map(({ bytes }) => bytes)),
  files: median(samples.map(({ files }) => files)),
  connections: median(samples.map(({ connections }) => connections)),
})

/** Reads, searches and writes; the texts repeat, so that only a leak can grow. */
function ask(hub: PlainHub, key: string, n: number): Promise<number> {
  const name = `note-${n % texts}`
  switch (n % 5) {
    case 0:
      return hub.status(key, 'POST', '/api/v1/private/long-term/put', {
        entry: { key: name, value: `The harbour number ${n}.` },
      })
    case 1:
      return hub.status(key, 'POST', '/api/v1/private/long-term/get', { key: name })
    case 2:
      return hub.status(key, 'GET', '/api/v1/memory/search?q=harbour')
    case 3:
      return hub.status(key, 'GET', '/api/v1/agents/me')
    default:
      return hub.status(key, 'GET', '/api/v1/memory/RCL-00000000')
  }
}

async function observe(hub: PlainHub, isOver: () => boolean): Promise<Sample[]> {
  const samples: Sample[] = []
  while (!isOver()) {
    samples.push({ ...heldBy(hub.pid), connections: await hub.connections() })
    await pause(sampleMs)
  }
  return samples
}
