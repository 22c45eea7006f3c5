import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Attack } from '../attack.ts'
import { openPlainHub, type PlainHub } from '../plain-hub.ts'
import { heldBy, median, megabytes } from '../processes.ts'

const clients = 8
/** Between the requests of a client, in milliseconds. */
const pauseMs = 5
const texts = 200
/** What a heap that was not collected a moment ago may hold more than before. */
const mostGrowth = 1.5
const sampleMs = 250

/** A hub that is asked all the time, for `size` seconds, and what it holds from a tenth of them on. */
export const load: Attack = {
  what: 'a hub under load holds no more memory, files and connections at the end than when it was warm',
  size: 60,
  closed: () => (existsSync('/proc/self/fd') ? null : 'this system has no /proc to look into'),
  async round({ size, folder }) {
    const hub = await openPlainHub(folder)
    const violations: string[] = []
    const samples: { bytes: number; files: number; connections: number }[] = []
    let requests = 0
    try {
      const started = performance.now()
      const isOver = (): boolean => performance.now() - started > size * 1000
      const observed = observe(hub, samples, isOver)
      const all = Array.from({ length: clients }, async (_, i) => {
        const key = await hub.register(`agent-${i}`)
        for (let n = i; !isOver(); n++) {
          const status = await ask(hub, key, n)
          requests++
          await pause(pauseMs)
          if (status !== 200 && status !== 201 && status !== 404)
            violations.push(`request ${n} was answered ${status}`)
        }
      })
      await Promise.all([...all, observed])
      const idle = await hub.untilIdle()
      const tenth = Math.max(1, Math.floor(samples.length / 10))
      const [warm, end] = [samples.slice(tenth, 2 * tenth), samples.slice(-tenth)].map((part) => ({
        bytes: median(part.map(({ bytes }) => bytes)),
        files: median(part.map(({ files }) => files)),
        connections: median(part.map(({ connections }) => connections)),
      })) as [(typeof samples)[0], (typeof samples)[0]]
      if (end.bytes > warm.bytes * mostGrowth)
        violations.push(`the hub grew from ${megabytes(warm.bytes)} to ${megabytes(end.bytes)} MB`)
      if (end.files > warm.files + clients) violations.push(`${warm.files} files were open, now ${end.files}`)
      const most = Math.max(...samples.map(({ files }) => files))
      if (idle.files > most)
        violations.push(`${idle.files} files are open when nobody asks, ${most} at most under load`)
      if (end.connections > warm.connections + 2)
        violations.push(`${warm.connections} connections to the database, now ${end.connections}`)
      return {
        counts: { seconds: size, requests },
        violations,
        measured: `the hub holds ${megabytes(warm.bytes)} MB, ${warm.files} files and ${warm.connections} connections to the database when warm; ${megabytes(end.bytes)} MB, ${end.files} and ${end.connections} at the end; ${idle.files} files when nobody asks any more`,
      }
    } finally {
      await hub.close()
    }
  },
}

/** Reads, searches and writes; the texts are the same ones again and again, so that only a leak can grow. */
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

async function observe(
  hub: PlainHub,
  samples: { bytes: number; files: number; connections: number }[],
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    samples.push({ ...heldBy(hub.pid), connections: await hub.connections() })
    await pause(sampleMs)
  }
}
