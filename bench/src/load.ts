import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { quantile } from './statistics.ts'

/** How long a burst of calls took. */
export interface Burst {
  perSecond: number
  p50: number
  p95: number
  p99: number
  errors: number
}

/** Makes `count` calls, `clients` of them at once; times are in milliseconds. */
export async function burst(
  count: number,
  clients: number,
  call: (i: number) => Promise<unknown>,
): Promise<Burst> {
  const times: number[] = []
  let errors = 0
  let next = 0
  const started = performance.now()
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let i = next++; i < count; i = next++) {
        const before = performance.now()
        await call(i).catch((error: Error) => {
          errors++
          console.error(error.message)
        })
        times.push(performance.now() - before)
      }
    }),
  )
  const seconds = (performance.now() - started) / 1000
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((q) => quantile(times, q)) as [number, number, number]
  return { perSecond: count / seconds, p50, p95, p99, errors }
}

/** Shorter than a server keeps an idle connection: a call over a connection just closed would fail. */
const idleMs = 2000

/** Calls over kept connections, without the cost of `fetch` on the measuring side. */
export function createCaller(port: number, key?: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: idleMs })
  const headers = key ? { Authorization: `Bearer ${key}` } : {}
  return {
    call: <T>(method: string, path: string, body?: unknown): Promise<T> =>
      new Promise((resolve, reject) => {
        const text = body === undefined ? undefined : JSON.stringify(body)
        const type = text === undefined ? {} : { 'Content-Type': 'application/json' }
        const sent = request(
          { agent, host: '127.0.0.1', port, method, path, headers: { ...headers, ...type } },
          (response) => {
            let answer = ''
            response.setEncoding('utf8')
            response.on('data', (part: string) => {
              answer += part
            })
            response.on('end', () => {
              const { statusCode = 0 } = response
              if (statusCode < 300) resolve(JSON.parse(answer) as T)
              else reject(new Error(`${statusCode} ${answer}`))
            })
          },
        )
        sent.on('error', reject)
        sent.end(text)
      }),
    close: () => agent.destroy(),
  }
}

export interface Served {
  port: number
  /** In bytes, now. */
  rss(): number
  stop(): void
}

/** Starts this program once more, as a server in a separate process. */
export function serveInChild(...args: string[]): Promise<Served> {
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const child: ChildProcess = spawn(process.execPath, [...process.execArgv, main, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}`)))
    createInterface(child.stdout as NodeJS.ReadableStream).once('line', (line) =>
      resolve({
        port: Number(line),
        rss: () =>
          Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) * 1024,
        stop: () => void child.kill('SIGKILL'),
      }),
    )
  })
}
