import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import {
  type EchoBlock,
  headOf,
  isMark,
  joinBlocks,
  newlineOf,
  parseEchoes,
  withFields,
  withLearningOf,
} from '../documents/echo-document.ts'
import { entryKey } from '../documents/entry.ts'
import { type ArchivedEntry, type ArchivePlace, layerOf, type Sidecar } from '../documents/sidecar.ts'
import { readText } from '../files/files.ts'
import { type LoadedRole, memoryChange, noEntry, sidecarChange } from '../files/role-folder.ts'
import type { FileChange } from '../files/transaction.ts'
import { isBeginningOf } from './plan-prune.ts'

/**
 * The file changes that restore an archived or shortened entry as it was, at its old place.
 *
 * @returns no changes when the entry was neither archived nor shortened
 * @throws MemoryError NOT_FOUND for an unknown id, CORRUPTION when its backup is gone, CONFLICT when a shortened entry
 * was rewritten since
 */
export function restoreChanges(root: string, role: LoadedRole, id: string): FileChange[] {
  const sidecar = structuredClone(role.sidecar)
  const known = Object.hasOwn(sidecar.entries, id) ? sidecar.entries[id] : undefined
  if (!known) throw noEntry(role.role, id)
  const { archived } = known
  if (!archived) return []
  const { path, backup, block } = blockAt(root, role, archived)
  // Compares only the layer, because a migration may have changed the evidence.
  if (block?.entry?.layer !== (archived.layer ?? layerOf(id))) throw notHeld(path, id)
  delete known.archived
  // An entry that is archived and still in the memory was shortened.
  const standing = role.echoes.find((echo) => echo.id === id)?.block
  const blocks = standing
    ? role.document.blocks.map((each) => (each === standing ? withWholeLearning(each, block, path) : each))
    : withEntryBack(role, backup, block, archived, wholeEntry(root, role, id, block, archived))
  return [
    memoryChange(role, joinBlocks(blocks), { byPerson: id.startsWith('etched-') }),
    sidecarChange(role.role, sidecar),
  ]
}

function blockAt(root: string, { role }: LoadedRole, { backup: name, block }: ArchivePlace) {
  const path = join(root, role, 'archive', name)
  const backup = parseEchoes(readText(path) ?? '').blocks
  return { path, backup, block: backup.find(({ section }) => section === block) }
}

const notHeld = (path: string, id: string): MemoryError =>
  new MemoryError(
    `${path} no longer holds ${id}: put that file back from a backup`,
    MemoryErrorCode.CORRUPTION,
    { details: { path, id } },
  )

/** The entry of a backup in the layer that it has now. */
function wholeEntry(
  root: string,
  role: LoadedRole,
  id: string,
  block: EchoBlock,
  { layer, learning }: ArchivedEntry,
): EchoBlock {
  const complete = learning ? completed(root, role, id, block, learning) : block
  return layer === undefined ? complete : withFields(complete, { layer: layerOf(id) })
}

/** An entry that was shortened before it was removed, with its full learning, unless a person rewrote it. */
function completed(
  root: string,
  role: LoadedRole,
  id: string,
  taken: EchoBlock,
  learning: ArchivePlace,
): EchoBlock {
  const { path, block } = blockAt(root, role, learning)
  if (!block?.entry) throw notHeld(path, id)
  return isShortOf(taken, block) ? withLearningOf(taken, block) : taken
}

const isShortOf = (block: EchoBlock, whole: EchoBlock): boolean =>
  isBeginningOf(block.entry?.learning, whole.entry?.learning)

/** The blocks of the memory with an entry at its old place, and with the text that was below it. */
function withEntryBack(
  role: LoadedRole,
  backup: readonly EchoBlock[],
  block: EchoBlock,
  archived: ArchivedEntry,
  entry: EchoBlock,
): EchoBlock[] {
  const blocks = role.document.blocks.map((each) => ({ ...each }))
  const at = placeOf(role, backup, archived)
  const newline = newlineOf(role.text)
  endLine(blocks[at - 1], newline)
  const restored = [entry, ...missingNotes(role, backup, block)].map((each) => ({ ...each }))
  if (at < blocks.length) endLine(restored.at(-1), newline)
  return [...blocks.slice(0, at), ...restored, ...blocks.slice(at)]
}

function endLine(block: EchoBlock | undefined, newline: string): void {
  if (block && !isMark(block) && !block.text.endsWith('\n')) block.text += newline
}

/**
 * The current entry, with its full learning again.
 *
 * @throws MemoryError CONFLICT when somebody has rewritten the learning since, which would be lost
 */
function withWholeLearning(standing: EchoBlock, whole: EchoBlock, path: string): EchoBlock {
  if (isShortOf(standing, whole)) return withLearningOf(standing, whole)
  throw new MemoryError(
    `the learning was rewritten since it was shortened: it stays; the earlier one is in ${path}`,
    MemoryErrorCode.CONFLICT,
    { details: { path } },
  )
}

/** The text that was below an entry, unless the memory still has it: without the entry somebody may have removed it. */
function missingNotes(role: LoadedRole, backup: readonly EchoBlock[], entry: EchoBlock): EchoBlock[] {
  const standing = unixLines(role.text)
  return backup.filter(
    (each) =>
      each !== entry && each.section === entry.section && !standing.includes(unixLines(each.text).trim()),
  )
}

/** Index for a restored block: after the last present block that came before it in the backup, or the file's head. */
function placeOf(role: LoadedRole, backup: readonly EchoBlock[], archived: ArchivedEntry): number {
  const gone = goneFrom(role.sidecar, archived.backup)
  let next = 0
  let place = headOf(role.document)
  role.document.blocks.forEach((block, index) => {
    const same = backup.findIndex(
      (each, i) =>
        i >= next && !(each.entry && gone.has(each.section)) && signatureOf(each) === signatureOf(block),
    )
    if (same === -1) return
    next = same + 1
    if ((backup[same]?.section ?? 0) < archived.block) place = Math.max(place, index + 1)
  })
  return place
}

const goneFrom = (sidecar: Sidecar, backup: string): Set<number> =>
  new Set(
    Object.values(sidecar.entries).flatMap(({ archived }) =>
      archived?.backup === backup && archived.as === 'removed' ? [archived.block] : [],
    ),
  )

const signatureOf = ({ entry, text }: EchoBlock): string =>
  entry ? `${entry.layer} ${entryKey(entry)}` : unixLines(text)

const unixLines = (text: string): string => text.replaceAll('\r\n', '\n')
