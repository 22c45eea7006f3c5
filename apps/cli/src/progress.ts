import type { Io } from './io.ts'

export interface Progress {
  update(state: { done: number; total: number }): void
  stop(): void
}

/** A bar with rate and time left on a person's screen; nothing in a pipe. */
export async function progressBar(io: Io, what: string): Promise<Progress> {
  if (!io.talkTerminal) return { update: () => {}, stop: () => {} }
  const { default: cliProgress } = await import('cli-progress')
  const bar = new cliProgress.SingleBar({
    format: `${what} {bar} {percentage}% · {value} of {total} · {rate}/s · {eta_formatted} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 50,
  })
  let begun = 0
  return {
    update({ done, total }) {
      begun ||= performance.now()
      const seconds = (performance.now() - begun) / 1000
      const rate = { rate: seconds > 0.5 ? (done / seconds).toFixed(1) : '–' }
      if (done === 0) bar.start(total, done, rate)
      else bar.update(done, rate)
    },
    stop: () => bar.stop(),
  }
}
