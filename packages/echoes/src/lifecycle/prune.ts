import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { sha256 } from '../documents/digest.ts'
import {
  type EchoBlock,
  headOf,
  isMark,
  joinBlocks,
  newlineOf,
  parseEchoes,
  withFields,
  withLearning,
  withLearningOf,
} from '../documents/echo-document.ts'
import { entryKey } from '../documents/entry.ts'
import { type ArchivePlace, layerOf, noteArchived, type Sidecar } from '../documents/sidecar.ts'
import { readText } from '../files/files.ts'
import {
  backupChange,
  type LoadedRole,
  memoryChange,
  outdatedPlan,
  sidecarChange,
  unfitPlan,
} from '../files/role-folder.ts'
import type { FileChange } from '../files/transaction.ts'
import { isBeginningOf, type PrunePlan, shortened } from './plan-prune.ts'

/**
 * The file changes that carry out a plan, the backup first.
 *
 * @returns no changes when this very plan was the last one carried out
 * @throws MemoryError CONFLICT when the memory has changed since, INVALID_INPUT when the plan does not fit it
 */
export function pruneChanges(root: string, role: LoadedRole, plan: PrunePlan): FileChange[] {
  const planDigest = sha256(JSON.stringify(plan))
  if (sha256(role.text) !== plan.fingerprint) {
    if (role.sidecar.lastPlan === planDigest) return []
    throw outdatedPlan(`memory of ${role.role}`)
  }
  if (plan.steps.length === 0) return []
  const { name, change } = backupChange(root, role.role, 'MEMORY', role.text, plan.day)
  const sidecar = structuredClone(role.sidecar)
  const replaced = new Map<EchoBlock, EchoBlock[]>()
  for (const { id, action } of plan.steps) {
    const echo = role.echoes.find((each) => each.id === id)
    const known = sidecar.entries[id]
    if (!echo || !known || echo.entry.layer === 'etched' || replaced.has(echo.block)) {
      throw unfitPlan(id)
    }
    const compressed = action === 'compress'
    replaced.set(echo.block, compressed ? [withLearning(echo.block, shortened(echo.entry.learning))] : [])
    noteArchived(known, { backup: name, block: echo.block.section }, compressed)
  }
  const next = joinBlocks(role.document.blocks.flatMap((block) => replaced.get(block) ?? block))
  sidecar.lastPlan = planDigest
  return [change, memoryChange(role, next), sidecarChange(role.role, sidecar)]
}

/**
 * The file changes that put an archived or shortened entry back as it was, at its old place.
 *
 * @returns no changes when the entry was neither archived nor shortened
 * @throws MemoryError NOT_FOUND for an unknown id, CORRUPTION when its backup is gone, CONFLICT when a shortened entry
 * was rewritten since
 */
export function restoreChanges(root: string, role: LoadedRole, id: string): FileChange[] {
  const sidecar = structuredClone(role.sidecar)
  const known = sidecar.entries[id]
  if (!known) throw new MemoryError(`${role.role} has no entry ${id}`, MemoryErrorCode.NOT_FOUND)
  const { archived } = known
  if (!archived) return []
  const { path, backup, block } = blockAt(root, role, archived)
  // Compares only the layer, because a migration may have changed the evidence.
  if (block?.entry?.layer !== (archived.layer ?? layerOf(id))) throw notHeld(path, id)
  delete known.archived
  delete known.compressed
  const blocks = role.document.blocks.map((each) => ({ ...each }))
  // What stands in the memory although it is archived was shortened.
  const standing = role.echoes.find((echo) => echo.id === id)?.block
  if (standing) {
    blocks[role.document.blocks.indexOf(standing)] = withWholeLearning(standing, block, path)
  } else {
    const complete = archived.learning ? completed(root, role, id, block, archived.learning) : block
    const whole = archived.layer === undefined ? complete : withFields(complete, { layer: layerOf(id) })
    const at = placeOf(role, backup, archived)
    const newline = newlineOf(role.text)
    endLine(blocks[at - 1], newline)
    const restored = [whole, ...missingNotes(role, backup, block)].map((each) => ({ ...each }))
    if (at < blocks.length) endLine(restored.at(-1), newline)
    blocks.splice(at, 0, ...restored)
  }
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
    `${path} does not hold ${id} any more: put that file back from a backup`,
    MemoryErrorCode.CORRUPTION,
    { details: { path, id } },
  )

/** An entry that was shortened before it was taken out, with its complete learning, unless a person wrote it anew. */
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

function endLine(block: EchoBlock | undefined, newline: string): void {
  if (block && !isMark(block) && !block.text.endsWith('\n')) block.text += newline
}

/**
 * The entry as it stands, with its complete learning again.
 *
 * @throws MemoryError CONFLICT when somebody rewrote the learning since, which would be lost
 */
function withWholeLearning(standing: EchoBlock, whole: EchoBlock, path: string): EchoBlock {
  if (isShortOf(standing, whole)) return withLearningOf(standing, whole)
  throw new MemoryError(
    `the learning was written anew since it was shortened: it stays; the earlier one is in ${path}`,
    MemoryErrorCode.CONFLICT,
    { details: { path } },
  )
}

/** What stood below an entry, unless it stands in the memory still: it once went with the entry. */
function missingNotes(role: LoadedRole, backup: readonly EchoBlock[], entry: EchoBlock): EchoBlock[] {
  const standing = unixLines(role.text)
  return backup.filter(
    (each) =>
      each !== entry && each.section === entry.section && !standing.includes(unixLines(each.text).trim()),
  )
}

/** Index for a restored block: after the last present block that came before it in the backup, or the file's head. */
function placeOf(
  role: LoadedRole,
  backup: readonly EchoBlock[],
  archived: { backup: string; block: number },
): number {
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
    Object.values(sidecar.entries).flatMap(({ archived, compressed }) =>
      archived?.backup === backup && compressed !== true ? [archived.block] : [],
    ),
  )

const signatureOf = ({ entry, text }: EchoBlock): string =>
  entry ? `${entry.layer} ${entryKey(entry)}` : unixLines(text)

const unixLines = (text: string): string => text.replaceAll('\r\n', '\n')
