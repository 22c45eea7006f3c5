import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { errorCode } from '@recall/core/process'
import { checkArchiveNumbers } from './checks/archive-numbers.ts'
import { checkArchiveTable } from './checks/archive-table.ts'
import { checkArchived } from './checks/archived.ts'
import { checkCopies } from './checks/copies.ts'
import { checkIndex } from './checks/index-and-files.ts'
import { checkLayout } from './checks/layout.ts'
import { checkMerges } from './checks/merges.ts'
import { checkPlaces } from './checks/places.ts'
import type { Check, Report } from './checks/report.ts'
import { checkSameSessions } from './checks/same-sessions.ts'
import { checkWindowPointers } from './checks/window-pointers.ts'
import { checkDisk, checkJournal, checkLeftovers, checkWriting } from './checks/writing.ts'
import { readConfig } from './config.ts'
import type { FileStore } from './file-store.ts'
import type { FileSystem } from './files/file-system.ts'

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
  /** Mends whatever can be mended without losing anything. */
  fix: boolean
}

/** Examines a memory and, when asked, mends derived files; what people wrote is never touched. */
export function checkUp(fileSystem: FileSystem, store: FileStore, { deep, fix }: CheckUpOptions): Finding[] {
  const findings: Finding[] = []
  const report: Report = (check, problems, fine, remedy, mend) => {
    if (problems.length === 0) return void findings.push({ check, ok: true, message: fine })
    const fixed = fix && mend !== undefined
    if (fixed) mend()
    const several = problems.length > 1 ? { problems } : {}
    const message = named(problems).join('; ')
    findings.push({ check, ok: fixed, message, ...several, remedy, ...(fixed ? { fixed } : {}) })
  }

  checkFolder(fileSystem, store, report)
  if (findings.some(({ ok }) => !ok)) return findings
  checkLayout(fileSystem, store, report)
  checkConfiguration(fileSystem, store, report)
  for (const [name, check] of checksOf(deep)) {
    // A check that fails must not hide what the others find.
    try {
      check(fileSystem, store, report)
    } catch (error) {
      if (!isMemoryError(error) && errorCode(error) === undefined) throw error
      report(name, [(error as Error).message], '', 'mend that first')
    }
  }
  return findings
}

const checkFolder: Check = (fileSystem, { root, layout }, report) =>
  report(
    'folder',
    fileSystem.existsSync(join(root, layout.memory)) ? [] : [`${layout.memory} is missing`],
    `${root} (${layout.name} layout)`,
    "run 'recall init'",
  )

const checkConfiguration: Check = (fileSystem, { root, layout }, report) => {
  const { problem } = readConfig(fileSystem, root, layout)
  report('configuration', problem ? [problem] : [], 'valid', `correct ${layout.config}`)
}

const checksOf = (deep: boolean): [name: string, Check][] => [
  ['writing', checkWriting],
  ['disk', checkDisk],
  ['unfinished write', checkJournal],
  ['leftovers', checkLeftovers],
  ['merges', checkMerges],
  ['copies', checkCopies],
  ['archive numbers', checkArchiveNumbers],
  ['sessions archived twice', checkSameSessions],
  ['window', checkWindowPointers],
  ['archive table', checkArchiveTable],
  ['places', checkPlaces],
  ...(deep ? [['archived entries', checkArchived] satisfies [string, Check]] : []),
  ['index', (fileSystem, store, report) => checkIndex(fileSystem, store, deep, report)],
]

const mostNamed = 5

/** The first few problems, and how many more there are. */
const named = (problems: readonly string[]): string[] => [
  ...problems.slice(0, mostNamed),
  ...(problems.length > mostNamed ? [`and ${problems.length - mostNamed} more`] : []),
]
