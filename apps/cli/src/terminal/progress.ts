import { exitCodes } from '../exit-codes.ts'
import type { Io } from './io.ts'

export interface Progress {
  update(state: { done: number; total: number }): void
}

/**
 * Shows the progress of work with rate and time left on a terminal, and nothing in a pipe.
 *
 * @param goesOn printed when Ctrl-C ends the command: what is kept, and how to continue. Without it Ctrl-C ends the
 * process at once, even during synchronous work
 */
export async function withProgress<T>(
  io: Io,
  { what, goesOn }: { what: string; goesOn?: string },
  work: (progress: Progress) => Promise<T> | T,
): Promise<T> {
  const bar = io.isErrorTerminal
    ? await screenBar(formatFor(what, io.columns))
    : { update: () => {}, stop: () => {} }
  const leave = (): void => {
    bar.stop()
    io.err(`recall: interrupted: ${goesOn}\n`)
    process.exit(exitCodes.interrupted)
  }
  if (goesOn) process.once('SIGINT', leave)
  try {
    return await work(bar)
  } finally {
    process.off('SIGINT', leave)
    bar.stop()
  }
}

/** A wrapped line is not cleared completely: on a narrow terminal the bar and the rate are left out. */
export const formatFor = (what: string, columns: number): string =>
  columns < 80
    ? `${what} {percentage}% · {value} of {total}`
    : `${what} {bar} {percentage}% · {value} of {total} · {rate}/s{left}`

async function screenBar(format: string): Promise<Progress & { stop(): void }> {
  const { default: cliProgress } = await import('cli-progress')
  const bar = new cliProgress.SingleBar({
    format,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    // So that a line fits a terminal of eighty columns.
    barsize: 20,
    clearOnComplete: true,
    // A killed process would otherwise leave the terminal without a cursor or line wrap.
    hideCursor: false,
    linewrap: true,
    // Otherwise the bar would handle Ctrl-C, and only stop itself.
    gracefulExit: false,
  })
  let begun = 0
  return {
    update({ done, total }) {
      begun ||= performance.now()
      const seconds = (performance.now() - begun) / 1000
      const rate = done / seconds
      const known =
        done > 0 && seconds > 0.5
          ? { rate: rate.toFixed(1), left: ` · ${duration((total - done) / rate)} left` }
          : { rate: '–', left: '' }
      if (done === 0) bar.start(total, done, known)
      else bar.update(done, known)
    },
    stop: () => bar.stop(),
  }
}

/** `40s`, `3m20s`, `2h05m`. */
function duration(seconds: number): string {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const two = (n: number): string => String(n).padStart(2, '0')
  if (hours > 0) return `${hours}h${two(minutes)}m`
  return minutes > 0 ? `${minutes}m${two(whole % 60)}s` : `${whole}s`
}
