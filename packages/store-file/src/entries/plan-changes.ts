import { basename, dirname, join } from 'node:path'
import {
  type Address,
  type Change,
  type ConversationArchive,
  conversationKey,
  type Entry,
  type Expected,
  MemoryError,
  MemoryErrorCode,
  type PutOptions,
  type Selection,
} from '@recall/core'
import { equalJson } from '@recall/core/json'
import { alreadyExists, changedUnderneath } from '@recall/core/stores'
import { printArchiveRow, withArchiveRows, withoutArchiveRows } from '../documents/archive-index.ts'
import { printConversation } from '../documents/conversation.ts'
import type { FileEntry } from '../documents/file-entry.ts'
import { printNote } from '../documents/note.ts'
import { requireSectionText, sectionOf, withoutSection, withSection } from '../documents/sections.ts'
import { withoutBlocks, withSession } from '../documents/window.ts'
import { type FileSystem, statusOf } from '../files/file-system.ts'
import { shownPath } from '../files/paths.ts'
import type { Workspace } from '../files/workspace.ts'
import { archiveName, archiveNumber, type Layout } from '../layout/layout.ts'
import { type Placement, placementOf, specialPlace } from '../layout/placement.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import { asSuccessor, type EntryFiles } from './entry-files.ts'

export interface PlannerOptions {
  fileSystem: FileSystem
  layout: Layout
  index: MemoryIndex
  files: EntryFiles
}

/** Plans, on a workspace, what writing and removing entries changes in the files; the caller applies the plan. */
export function createPlanner({ fileSystem, layout, index, files }: PlannerOptions) {
  const { paths, notePath, sectionPath, archivePath, filesOf, readNote, readEntry, live, refuseForeignFile } =
    files

  /** @returns whether this is a new note, with access counts of its own, rather than a successor of an existing one */
  const planPut = (
    workspace: Workspace,
    entry: Entry,
    { overwrite, now }: PutOptions,
    expected?: Expected,
  ): boolean => {
    const placement = placementOf(entry)
    if (!overwrite && live(entry, now)) throw alreadyExists(entry)
    if (placement.kind === 'note') {
      planRemoveSpecial(workspace, entry)
      return planNote(workspace, entry, now, expected)
    }
    planRemoveNote(workspace, entry)
    planDocument(workspace, entry, placement)
    return false
  }

  const planNote = (workspace: Workspace, entry: Entry, now: number, expected?: Expected): boolean => {
    const path = notePath(entry)
    const earlier = live(entry, now)
    if (workspace.exists(path) && !readNote(entry)) refuseForeignFile(path, entry)
    const note = earlier
      ? printNote(asSuccessor(entry, earlier, expected), workspace.read(path))
      : printNote(entry)
    workspace.write(path, note)
    return !earlier
  }

  const planDocument = (
    workspace: Workspace,
    entry: Entry,
    placement: Exclude<Placement, { kind: 'note' }>,
  ): void => {
    if (placement.kind === 'section') {
      const path = sectionPath(entry.key)
      if (path === null) {
        throw new MemoryError(
          `${placement.fileName} is kept by the session lifecycle: choose another file`,
          MemoryErrorCode.INVALID_INPUT,
          { scope: entry.scope, key: entry.key },
        )
      }
      const text = requireSectionText(entry)
      workspace.write(path, withSection(workspace.read(path), placement.slug, text))
    } else if (placement.kind === 'session') {
      const { session } = placement
      // A file is read as the archive of the session that names it.
      const archive = session.archive === conversationKey(session.sessionId) && archivePath(session.archive)
      const pointer = archive ? shownPath(dirname(paths.window), archive) : session.archive
      workspace.write(paths.window, withSession(workspace.read(paths.window), session, pointer))
    } else planArchive(workspace, placement.archive, entry.key)
  }

  const planArchive = (workspace: Workspace, archive: ConversationArchive, key: string): void => {
    const known = archivePath(key)
    let number = known ? archiveNumber(basename(known)) : index.fresh().lastArchiveNumber() + 1
    let path = known ?? join(paths.archives, archiveName(layout, number))
    // Not read: even a file that is not text occupies its number.
    const isTaken = (): boolean => statusOf(fileSystem, path) !== null || workspace.exists(path)
    while (!known && isTaken()) path = join(paths.archives, archiveName(layout, ++number))
    workspace.write(path, printConversation(archive, number, workspace.read(path)))
    const row = new Map([[number, printArchiveRow(archive, number)]])
    workspace.write(paths.archiveIndex, withArchiveRows(workspace.read(paths.archiveIndex), row))
  }

  const planRemove = (workspace: Workspace, address: Address): boolean => {
    const special = planRemoveSpecial(workspace, address)
    return planRemoveNote(workspace, address) || special
  }

  const planRemoveNote = (workspace: Workspace, address: Address): boolean => {
    const path = notePath(address)
    if (!workspace.exists(path) || !readNote(address)) return false
    workspace.write(path, null)
    return true
  }

  const planRemoveSpecial = (workspace: Workspace, { scope, namespace, key }: Address): boolean => {
    const place = specialPlace({ scope, namespace, key })
    if (place === 'archive') return planRemoveArchive(workspace, key)
    const path = place === 'section' ? sectionPath(key) : place === 'window' ? paths.window : null
    if (path === null) return false
    const content = workspace.read(path)
    const without =
      place === 'section'
        ? withoutSection(content, sectionOf(key)?.slug as string)
        : withoutBlocks(content, (each) => each !== key)
    if (without !== null) workspace.write(path, without)
    return without !== null
  }

  const planRemoveArchive = (workspace: Workspace, key: string): boolean => {
    const path = archivePath(key)
    if (!path || !workspace.exists(path)) return false
    workspace.write(path, null)
    const table = workspace.read(paths.archiveIndex)
    const without = withoutArchiveRows(table, [archiveNumber(basename(path))])
    if (without !== table) workspace.write(paths.archiveIndex, without)
    return true
  }

  /** Reads an entry that a change depends on: a write to it before the change is applied is noticed then. */
  const readNoted = (workspace: Workspace, address: Address): FileEntry | null => {
    // Recorded before it is read, so that no change can slip in between.
    for (const path of filesOf(address)) workspace.read(path)
    return readEntry(address)
  }

  /** Whether an entry's file still matches a selection; without conditions every entry does. */
  const isSelected = (
    workspace: Workspace,
    address: Address,
    { updatedBefore = Number.POSITIVE_INFINITY, tags = [], type }: Selection,
  ): boolean => {
    if (updatedBefore === Number.POSITIVE_INFINITY && tags.length === 0 && type === undefined) return true
    const file = readNoted(workspace, address)
    return (
      file !== null &&
      file.updated < updatedBefore &&
      (type === undefined || file.type === type) &&
      tags.every((tag) => file.tags.includes(tag))
    )
  }

  /** Refuses changes to entries that were written since the caller read them. */
  const assertExpected = (workspace: Workspace, changes: readonly Change[]): void => {
    for (const { expected, ...change } of changes) {
      if (!expected) continue
      const address = 'put' in change ? change.put : change.remove
      const file = readNoted(workspace, address)
      const isAsExpected =
        file?.updated === expected.updatedAt &&
        (expected.value === undefined || equalJson(file.value, expected.value))
      if (!isAsExpected) throw changedUnderneath(address)
    }
  }

  return { planPut, planRemove, isSelected, assertExpected }
}
