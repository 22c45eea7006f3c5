import { join } from 'node:path'
import { proseLines } from '@recall/core'
import { linesOf } from '../documents/line-ends.ts'
import type { FileStore } from '../file-store.ts'
import { type FileSystem, orAbsent } from '../files/file-system.ts'
import { readText } from '../files/read-text.ts'
import { orUnreadable, type Report, within } from './report.ts'

/** Reports files in which version control left both sides of a merge, for a person to choose. */
export function checkMerges(fileSystem: FileSystem, { root, layout }: FileStore, report: Report): void {
  const names = orAbsent(() => fileSystem.readdirSync(join(root, layout.memory))) ?? []
  const curated = names.filter((name) => name.endsWith('.md')).map((name) => within(layout.memory, name))
  const files = [...new Set([layout.window, layout.archiveIndex, ...curated])]
  report(
    'merges',
    files
      .filter((path) =>
        hasBothSides(orUnreadable(() => readText(fileSystem, join(root, path)))?.content ?? ''),
      )
      .map((path) => `${path} holds both sides of a merge`),
    'none unfinished',
    'choose what stays, and remove the lines <<<<<<<, ======= and >>>>>>>',
  )
}

/** What an agent or a person quotes in fenced code does not count. */
function hasBothSides(content: string): boolean {
  const lines = linesOf(content)
  const isProse = proseLines(lines)
  const marks = lines.flatMap((line, i) =>
    isProse[i] ? (/^(<{7}|={7}|>{7})(?= |\r?\n|$)/.exec(line)?.[1]?.[0] ?? []) : [],
  )
  return /<=+>/.test(marks.join(''))
}
