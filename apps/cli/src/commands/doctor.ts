import { checkUp, defaultFileSystem } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { paint } from '../format.ts'
import { isGivenUp, readSessions } from '../host-sessions.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/** Examines the memory. Exit code 1 when something is wrong and was not fixed. */
export async function doctor(
  io: Io,
  options: RootOptions & { json?: boolean; deep?: boolean; fix?: boolean },
): Promise<number> {
  return withStore(io, options, (store) => {
    const findings = checkUp(defaultFileSystem, store, {
      deep: options.deep ?? false,
      fix: options.fix ?? false,
    })
    const left = readSessions(store).filter(isGivenUp)
    if (left.length > 0) {
      findings.push({
        check: 'sessions',
        ok: false,
        message: left
          .map(({ sessionId, problem }) => `session ${sessionId} was not archived: ${problem?.reason}`)
          .join('; '),
        remedy: 'mend what it says, then archive the transcripts: '.concat(
          left.map(({ transcript }) => `recall archive ${transcript}`).join('; '),
        ),
      })
    }
    const healthy = findings.every(({ ok }) => ok)
    if (options.json) io.out(`${JSON.stringify({ healthy, findings })}\n`)
    else {
      const colour = paint(io)
      for (const { check, ok, message, remedy, fixed } of findings) {
        const mark = fixed ? colour.yellow('mended') : ok ? colour.green('ok') : colour.red('wrong')
        io.out(`${mark.padEnd(7 + mark.length - (fixed ? 6 : ok ? 2 : 5))} ${check}: ${message}\n`)
        if (!ok && remedy) io.out(`        → ${remedy}\n`)
      }
    }
    return healthy ? exitCodes.fine : exitCodes.no
  })
}
