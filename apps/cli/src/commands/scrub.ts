import { redactText } from '@recall/core'
import { defaultFileSystem, scrubFiles } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { count, formatCounts } from '../format.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/** Exit code 1 when secrets are stored and were not replaced. */
export async function scrub(
  io: Io,
  options: RootOptions & { json?: boolean; yes?: boolean },
): Promise<number> {
  return withStore(io, options, (store) => {
    const apply = options.yes ?? false
    const files = scrubFiles(defaultFileSystem, store, redactText, apply)
    if (options.json) io.out(`${JSON.stringify({ applied: apply, files })}\n`)
    else if (files.length === 0) io.out('No secrets found.\n')
    else {
      for (const { path, counts } of files) io.out(`${path}: ${formatCounts(counts)}\n`)
      io.out(
        apply
          ? `\n${count(files.length, 'file')} cleaned. The secrets were stored in plain text until now: replace them at their source.\n`
          : `\nRun 'recall scrub --yes' to replace them in ${count(files.length, 'file')}.\n`,
      )
    }
    return files.length > 0 && !apply ? exitCodes.no : exitCodes.fine
  })
}
