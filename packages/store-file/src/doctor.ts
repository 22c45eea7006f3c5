import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { checkArchiveNumbers } from './checks/archive-numbers.ts'
import { checkArchiveTable } from './checks/archive-table.ts'
import { checkArchived } from './checks/archived.ts'
import { checkCopies } from './checks/copies.ts'
import { checkIndex } from './checks/index-and-files.ts'
import { checkMerges } from './checks/merges.ts'
import { checkPlaces } from './checks/places.ts'
import type { Report } from './checks/report.ts'
import { checkSameSessions } from './checks/same-sessions.ts'
import { checkWindowPointers } from './checks/window-pointers.ts'
import { checkDisk, checkJournal, checkLeftovers, checkWriting } from './checks/writing.ts'
import { readConfig } from './config.ts'
import type { FileStore } from './file-store.ts'
import { errorCode, type FileSystem } from './files/file-system.ts'
import { layouts } from './layout/layout.ts'
import { layoutFile } from './layout/layout-file.ts'
import { secondNames } from './layout/second-names.ts'

export interface Finding {
  check: string
  ok: boolean
  /** What is wrong: the first few of the problems, and how many more there are. */
  message: string
  /** All problems, where there are several. */
  problems?: string[]
  /** What to do, when something is wrong. */
  remedy?: string
  fixed?: boolean
}

export interface CheckUpOptions {
  /** Also reads every file and checks the index page by page. */
  deep: boolean
  /** Mends what can be mended without losing anything. */
  fix: boolean
}

/** Examines a memory and, when asked, mends what is derived; what people wrote is never touched. */
export function checkUp(fileSystem: FileSystem, store: FileStore, { deep, fix }: CheckUpOptions): Finding[] {
  const { root, layout } = store
  const findings: Finding[] = []
  const report: Report = (check, problems, fine, remedy, mend) => {
    if (problems.length === 0) return void findings.push({ check, ok: true, message: fine })
    const fixed = fix && mend !== undefined
    if (fixed) mend()
    const several = problems.length > 1 ? { problems } : {}
    const message = named(problems).join('; ')
    findings.push({ check, ok: fixed, message, ...several, remedy, ...(fixed ? { fixed } : {}) })
  }

  report(
    'folder',
    fileSystem.existsSync(join(root, layout.memory)) ? [] : [`${layout.memory} is missing`],
    `${root} (${layout.name} layout)`,
    "run 'recall init'",
  )
  if (!fileSystem.existsSync(join(root, layout.memory))) return findings

  const again = secondNames(fileSystem, root, layout)
  const elsewhere = Object.values(layouts).flatMap(({ name, window, archives }) =>
    [window, archives]
      .filter((path) => ![layout.window, layout.archives].includes(path))
      .filter((path) => !again.has(path) && fileSystem.existsSync(join(root, path)))
      .map((path) =>
        name === layout.name
          ? `${path} is where the ${name} layout has it, but ${layoutFile} names another place`
          : `${path} belongs to the ${name} layout`,
      ),
  )
  report(
    'layout',
    elsewhere,
    'one layout',
    'its archives are searched; move them to one place when convenient',
  )

  const { problem } = readConfig(fileSystem, root, layout)
  report('configuration', problem ? [problem] : [], 'valid', `correct ${layout.config}`)

  // One check that cannot be made must not hide what the others find.
  const attempt = (check: string, call: () => void): void => {
    try {
      call()
    } catch (error) {
      if (!isMemoryError(error) && errorCode(error) === undefined) throw error
      report(check, [(error as Error).message], '', 'mend that first')
    }
  }
  attempt('writing', () => checkWriting(fileSystem, store, report))
  attempt('disk', () => checkDisk(fileSystem, store, report))
  attempt('unfinished write', () => checkJournal(fileSystem, store, report))
  attempt('leftovers', () => checkLeftovers(fileSystem, store, report))
  attempt('merges', () => checkMerges(fileSystem, store, report))
  attempt('copies', () => checkCopies(fileSystem, store, report))
  attempt('archive numbers', () => checkArchiveNumbers(fileSystem, store, report))
  attempt('sessions archived twice', () => checkSameSessions(fileSystem, store, report))
  attempt('window', () => checkWindowPointers(fileSystem, store, report))
  attempt('archive table', () => checkArchiveTable(fileSystem, store, report))
  attempt('places', () => checkPlaces(fileSystem, store, report))
  if (deep) attempt('archived entries', () => checkArchived(fileSystem, store, report))
  attempt('index', () => checkIndex(fileSystem, store, deep, report))
  return findings
}

const mostNamed = 5

/** The first few problems, and how many more there are. */
const named = (problems: readonly string[]): string[] => [
  ...problems.slice(0, mostNamed),
  ...(problems.length > mostNamed ? [`and ${problems.length - mostNamed} more`] : []),
]
