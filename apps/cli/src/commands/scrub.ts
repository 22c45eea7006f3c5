import { redactText } from '@recall/core'
import { defaultFileSystem, type FileStore, type ScrubbedFile, scrubFiles } from '@recall/store-file'
import { sha256 } from '../digest.ts'
import { exitCodes } from '../exit-codes.ts'
import { filesBeside, withCleanName } from '../memory/files-beside.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count, formatCounts } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

/**
 * Looks for stored secrets and, with `--yes`, replaces them; in files that no search reads it only reports them. Exit
 * code 1 when some remain, or a file could not be read.
 */
export async function scrub(
  io: Io,
  options: RootOptions & { json?: boolean; yes?: boolean },
): Promise<number> {
  return withStore(io, options, (store) => {
    const apply = options.yes ?? false
    const redact = onceForEachText(redactText)
    const found = scrubFiles(defaultFileSystem, store, redact, apply)
    const known = new Set(found.map(({ path }) => path))
    const files = found.map(withCleanName)
    const others = secretsBeside(store, known, redact).map(withCleanName)
    const beside = others.filter(({ problem }) => !problem)
    const secret = files.filter(({ problem }) => !problem)
    const unread = [...files, ...others].filter(({ problem }) => problem)
    if (options.json) {
      const report = { applied: apply, files, ...(others.length > 0 ? { beside: others } : {}) }
      io.out(`${JSON.stringify(report)}\n`)
    } else {
      const named = secret.map(({ path, counts }) => `${path}: ${formatCounts(counts)}`)
      const asTheyAre = [
        ...unread.map(({ path, problem }) => `${path}: not examined: ${problem}`),
        ...beside.map(
          ({ path, counts }) => `${path}: ${formatCounts(counts)}, in a file that no search reads`,
        ),
      ]
      for (const line of [...firstFew(named, 'file'), ...firstFew(asTheyAre, 'file')])
        io.out(`${printable(line)}\n`)
      if (secret.length > 0 || beside.length === 0)
        io.out(conclusion(secret.length, apply, unread.length > 0))
      if (beside.length > 0)
        io.out('\nFiles that no search reads are left as they are: mend or delete them.\n')
    }
    const isLeft = (secret.length > 0 && !apply) || unread.length > 0 || beside.length > 0
    return isLeft ? exitCodes.no : exitCodes.fine
  })
}

/** Secrets in files that were not examined yet. */
const secretsBeside = (
  store: FileStore,
  known: ReadonlySet<string>,
  redact: typeof redactText,
): ScrubbedFile[] =>
  filesBeside(store, known, (text) => {
    const { counts } = redact(text)
    return Object.keys(counts).length > 0 ? counts : undefined
  }).map((each) =>
    each.problem === undefined
      ? { path: each.path, counts: each.found }
      : { path: each.path, counts: {}, problem: each.problem },
  )

/** Looks for secrets only once in identical texts, such as those of copies. */
function onceForEachText(redact: typeof redactText): typeof redactText {
  const clean = new Set<string>()
  return (text) => {
    const digest = sha256(text)
    if (clean.has(digest)) return { text, counts: {} }
    const found = redact(text)
    if (Object.keys(found.counts).length === 0) clean.add(digest)
    return found
  }
}

function conclusion(files: number, applied: boolean, isPart: boolean): string {
  if (files === 0) return isPart ? 'No secrets found in the others.\n' : 'No secrets found.\n'
  if (!applied) return `\nRun the same with --yes to replace them in ${count(files, 'file')}.\n`
  return `\n${count(files, 'file')} cleaned. The secrets were stored in plain text until now: replace them at their source.\n`
}
