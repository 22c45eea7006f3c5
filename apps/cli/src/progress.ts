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
    format: `${what} {bar} {percentage}% · {value} of {total} · {duration_formatted} · {eta_formatted} left`,
    barCompleteChar: '█',
    barIncompleteChar: '░',
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 50,
  })
  let begun = false
  return {
    update({ done, total }) {
      if (!begun) bar.start(total, done)
      else bar.update(done)
      begun = true
    },
    stop: () => bar.stop(),
  }
}
