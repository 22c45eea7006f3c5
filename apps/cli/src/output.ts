import type { Io } from './io.ts'

/** A reader that goes away, like `head`, is no error. */
const ignoreClosedPipe = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'EPIPE') throw error
}

export const standardOutput: Pick<Io, 'out' | 'err'> = {
  out: (text) => {
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', ignoreClosedPipe)
    process.stdout.write(text)
  },
  err: (text) => void process.stderr.write(text),
}
