import { redactText } from '@recall/core'
import { defaultFileSystem, scrubFiles } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import type { RootOptions } from '../find-root.ts'
import { count, formatCounts } from '../format.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/**
 * Looks for stored secrets and, with `--yes`, replaces them. Exit code 1 when some remain, or a file could not be
 * read.
 */
export async function scrub(
  io: Io,
  options: RootOptions & { json?: boolean; yes?: boolean },
): Promise<number> {
  return withStore(io, options, (store) => {
    const apply = options.yes ?? false
    const files = scrubFiles(defaultFileSystem, store, redactText, apply)
    const secret = files.filter(({ problem }) => !problem)
    const unread = files.filter(({ problem }) => problem)
    if (options.json) io.out(`${JSON.stringify({ applied: apply, files })}\n`)
    else {
      for (const { path, counts } of secret) io.out(`${path}: ${formatCounts(counts)}\n`)
      for (const { path, problem } of unread) io.out(`${path}: not looked at: ${problem}\n`)
      io.out(conclusion(secret.length, apply))
    }
    return (secret.length > 0 && !apply) || unread.length > 0 ? exitCodes.no : exitCodes.fine
  })
}

function conclusion(files: number, applied: boolean): string {
  if (files === 0) return 'No secrets found.\n'
  if (!applied) return `\nRun 'recall scrub --yes' to replace them in ${count(files, 'file')}.\n`
  return `\n${count(files, 'file')} cleaned. The secrets were stored in plain text until now: replace them at their source.\n`
}
