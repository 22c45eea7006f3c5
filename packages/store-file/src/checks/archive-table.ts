import { join } from 'node:path'
import type { ConversationArchive } from '@recall/core'
import {
  archiveRows,
  datesInTable,
  printArchiveRow,
  sessionInRow,
  withArchiveRows,
  withBothSides,
  withoutArchiveRows,
} from '../documents/archive-index.ts'
import { parseConversation } from '../documents/conversation.ts'
import type { FileStore } from '../file-store.ts'
import { type FileSystem, namesIn } from '../files/file-system.ts'
import { readText } from '../files/read-text.ts'
import { rewriteFile } from '../files/rewrite-file.ts'
import { archiveFile, archiveNumber } from '../layout/layout.ts'
import { type ArchiveHead, archiveHeads } from './archive-heads.ts'
import { counted, orUnreadable, type Report } from './report.ts'

export function checkArchiveTable(fileSystem: FileSystem, store: FileStore, report: Report): void {
  const { root, layout } = store
  const path = join(root, layout.archiveIndex)
  const content = readText(fileSystem, path)?.content ?? ''
  const rows = archiveRows(content)
  const names = archiveNames(fileSystem, store)
  if (names === null && rows.length > 0) {
    // A missing folder is not an empty one: keep the table.
    const problem = `${layout.archives} is missing, and the table has ${counted(rows.length, 'row')}`
    report('archive table', [problem], '', 'put the folder back')
    return
  }
  const { missing, extra, doubled, misled } = compare(fileSystem, store, content, names ?? [])
  report(
    'archive table',
    [
      ...(withBothSides(content) === null ? [] : [`${layout.archiveIndex} holds both sides of a merge`]),
      ...missing.map((name) => `archive ${archiveNumber(name)} has no row`),
      ...extra.map((number) => `row ${number} has no archive`),
      ...doubled.map((number) => `archive ${number} has several rows`),
      ...misled.map((number) => `row ${number} names another session than its archive`),
    ],
    `${counted(names?.length ?? 0, 'archive')}, ${counted(rows.length, 'row')}`,
    "run 'recall doctor --fix' to add and remove rows",
    () =>
      store.exclusively(() => rewriteFile(fileSystem, path, (now) => mended(fileSystem, store, now ?? ''))),
  )
}

/** `null` where their folder is missing. */
const archiveNames = (fileSystem: FileSystem, { root, layout }: FileStore): string[] | null =>
  namesIn(fileSystem, join(root, layout.archives))
    ?.filter((name) => archiveFile.test(name))
    .sort() ?? null

/** Where the table and the archives disagree: names without a row, and numbers of rows to correct. */
function compare(fileSystem: FileSystem, store: FileStore, content: string, names: readonly string[]) {
  const rows = archiveRows(content)
  const [ofRows, ofFiles] = [new Set(rows), new Set(names.map(archiveNumber))]
  return {
    missing: names.filter((name) => !ofRows.has(archiveNumber(name))),
    extra: [...ofRows].filter((number) => !ofFiles.has(number)),
    doubled: repeated(rows).filter((number) => ofFiles.has(number)),
    misled: misledRows(fileSystem, store, content),
  }
}

/** The table for the archives as they are now: others may have archived or forgotten a session since the check. */
function mended(fileSystem: FileSystem, store: FileStore, content: string): string | null {
  const names = archiveNames(fileSystem, store)
  if (names === null) return null
  const { missing, extra, doubled, misled } = compare(fileSystem, store, content, names)
  const unclear = names.filter((name) => [...doubled, ...misled].includes(archiveNumber(name)))
  const made = [...missing, ...unclear].map(
    (name) => [archiveNumber(name), rowOf(fileSystem, store, name)] as const,
  )
  const kept = withoutArchiveRows(withBothSides(content) ?? content, [...extra, ...doubled])
  return withArchiveRows(kept, new Map(made))
}

/** Numbers whose row names the session of another archive, or of none: after a merge, or after a number was changed. */
function misledRows(fileSystem: FileSystem, store: FileStore, table: string): number[] {
  const rows = datesInTable(table)
  const here = archiveHeads(fileSystem, store).filter(({ folder }) => folder === store.layout.archives)
  const shared = repeated(here.map(({ number }) => number))
  const heads = here.filter(({ number }) => !shared.includes(number))
  const callOf = ({ session, part }: ArchiveHead): string | null =>
    session === undefined ? null : sessionInRow(session, part)
  const sessions = new Set(heads.map(callOf))
  return heads
    .filter((head) => {
      const told = rows.get(head.number)?.session
      const call = callOf(head)
      if (told === undefined || call === null || told === call) return false
      return sessions.has(told) || told === head.name.slice(0, -3)
    })
    .map(({ number }) => number)
}

/** The numbers that occur more than once. */
function repeated(numbers: readonly number[]): number[] {
  const seen = new Set<number>()
  return [...new Set(numbers.filter((number) => seen.size === seen.add(number).size))]
}

/** The table row of an archive; one that cannot be read gets a row without details. */
function rowOf(fileSystem: FileSystem, { root, layout }: FileStore, name: string): string {
  const file = orUnreadable(() => readText(fileSystem, join(root, layout.archives, name)))
  const times = { modified: file?.stamp.modified ?? 0 }
  const entry = parseConversation(file?.content ?? '', archiveNumber(name), name.slice(0, -3), times)
  return printArchiveRow(entry.value as ConversationArchive, archiveNumber(name))
}
