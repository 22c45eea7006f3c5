import { readdirSync, readFileSync } from 'node:fs'

// Linux only: without /proc nothing can be found out about a process.

/** What a process holds. */
export interface Held {
  bytes: number
  files: number
}

export function heldBy(pid: number): Held {
  const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
  return { bytes: pages * 4096, files: readdirSync(`/proc/${pid}/fd`).length }
}

/** How many processes were started with an argument. */
const processesWith = (argument: string): number =>
  readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(argument)
    } catch {
      // It ended meanwhile.
      return false
    }
  }).length

/** Waits until none is running; detached processes that hooks start end by themselves. */
export async function untilNoneRuns(argument: string): Promise<number> {
  const deadline = Date.now() + 30_000
  while (processesWith(argument) > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 50))
  return processesWith(argument)
}

export const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20)

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}
