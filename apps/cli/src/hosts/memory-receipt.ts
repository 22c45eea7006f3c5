import { existsSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { createFolder, renamePatiently, writeNewFile } from '@recall/core/process'
import { defaultFileSystem, layouts, layoutsOf } from '@recall/store-file'
import { sha256 } from '../digest.ts'
import { isDerived } from '../memory/derived-files.ts'
import { type MemoryReceipt, readReceipts, receiptsPath } from '../memory/receipts.ts'
import { ownName, removeAbandoned } from '../memory/unfinished.ts'
import { withNobodyArchiving } from './lock-files.ts'

/** What was created for a memory. */
export interface CreatedMemory {
  created: { path: string; digest?: string }[]
  kept: string[]
  /** Folders that did not exist, absolute. */
  folders: string[]
}

/** @throws MemoryError CORRUPTION when they are damaged: it is then unknown what `uninit` may delete */
export function wholeReceipts(state: string): MemoryReceipt[] {
  try {
    return readReceipts(state)
  } catch (cause) {
    const path = receiptsPath(state)
    throw new MemoryError(
      `${path} is damaged: it says what recall created for a memory. Move it away to go on without it`,
      MemoryErrorCode.CORRUPTION,
      { cause, details: { path } },
    )
  }
}

/**
 * Creates a memory for hosts, and records which files and folders are made, so that `uninit` can remove them. The
 * record comes first, so that it also covers a process that is killed meanwhile.
 *
 * @param create makes it; with `isDry` only returns what it would make
 */
export function createForHosts(
  state: string,
  root: string,
  create: (isDry: boolean) => CreatedMemory,
): CreatedMemory {
  const earlier = wholeReceipts(state)
  const planned = create(true)
  noteCreated(state, earlier, root, planned)
  try {
    return create(false)
  } catch (error) {
    if (!planned.created.some(({ path }) => existsSync(join(root, path)))) keepReceipts(state, earlier)
    throw error
  }
}

function noteCreated(
  state: string,
  earlier: readonly MemoryReceipt[],
  root: string,
  { created, folders }: CreatedMemory,
): void {
  const known = earlier.find((receipt) => receipt.root === root)
  const files = created.flatMap(({ path, digest }) => (digest ? [{ path, digest }] : []))
  if (known && files.length === 0 && folders.length === 0) return
  const receipt = {
    root,
    files: [...(known?.files ?? []), ...files],
    folders: [...new Set([...(known?.folders ?? []), ...folders])],
  }
  createFolder(state, 0o700)
  const others = earlier.filter((each) => each !== known)
  writeReceipts(state, [...others, receipt])
}

export interface MemoryLeft {
  root: string
  /** Roots that were not removed, because they hold more than `init` created. */
  kept: string[]
  /** Some of it existed before it was wired into hosts, so only its user may delete it. */
  isOlder?: true
}

/**
 * Removes what `init` created and nobody has written to since. With `purge` it also removes the memory itself:
 * archives, window, index and curated memory. A memory that partly existed before stays as a whole: what was written
 * since then is a part of it.
 *
 * @returns `left`, the memories that stay, `removed`, the roots that are gone or, in a dry run, would be, and `away`,
 * those where there was no memory
 */
export function removeCreated(
  state: string,
  options: { purge: boolean; dryRun: boolean },
): { left: MemoryLeft[]; removed: string[]; away: string[] } {
  const receipts = wholeReceipts(state)
  const present = receipts.filter(({ root }) => existsSync(join(root, 'memory')))
  const outcomes = present.map((receipt): MemoryLeft => {
    const { root, files, folders } = receipt
    if ((files.length === 0 && folders.length === 0) || holdsOlder(receipt))
      return { root, kept: [root], isOlder: true }
    const isUnused =
      files.every(({ path, digest }) => isSame(join(root, path), digest)) && !holdsMore(root, files)
    if (!isUnused && !options.purge) return { root, kept: [root] }
    if (!options.dryRun)
      withNobodyArchiving({ root, layout: layouts.entity }, () => clear(receipt, options.purge))
    return { root, kept: [] }
  })
  const left = outcomes.filter(({ kept }) => kept.length > 0)
  const still = receipts.filter(({ root }) => left.some((each) => each.root === root && !each.isOlder))
  // Memories that stay can still be purged another time.
  if (!options.dryRun) keepReceipts(state, still)
  return {
    left,
    removed: outcomes.flatMap(({ root, kept }) => (kept.length > 0 ? [] : root)),
    away: receipts.filter((each) => !present.includes(each)).map(({ root }) => root),
  }
}

/** Whether a memory holds anything from before it was wired in: neither created then nor in a folder that was. */
function holdsOlder({ root, files, folders }: MemoryReceipt): boolean {
  const created = new Set(files.map(({ path }) => join(root, path)))
  return layoutsOf(defaultFileSystem, root).some(({ memory, archives, window, archiveIndex, internal }) => {
    const later = [...folders, join(root, internal)].map((folder) => `${folder}${sep}`)
    return [memory, archives, window, archiveIndex]
      .flatMap((path) => filesBelow(join(root, path)))
      .some((file) => !created.has(file) && !later.some((folder) => file.startsWith(folder)))
  })
}

function clear({ root, files, folders }: MemoryReceipt, purge: boolean): void {
  for (const { path, digest } of files) {
    if (purge || isSame(join(root, path), digest)) rmSync(join(root, path), { force: true })
  }
  for (const layout of layoutsOf(defaultFileSystem, root)) {
    rmSync(join(root, layout.internal), { recursive: true, force: true })
    for (const folder of [layout.memory, layout.archives].map((path) => join(root, path))) {
      // A folder that existed before is not ours to empty.
      if (purge && folders.includes(folder)) rmSync(folder, { recursive: true, force: true })
    }
  }
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
  }
}

/** Whether there are files other than those that `init` created and those derived from them. */
function holdsMore(root: string, files: MemoryReceipt['files']): boolean {
  const own = new Set(files.map(({ path }) => join(root, path)))
  return layoutsOf(defaultFileSystem, root).some((layout) =>
    [layout.memory, layout.archives, layout.window, layout.archiveIndex].some((path) =>
      filesBelow(join(root, path)).some(
        (file) => !own.has(file) && !saysNothing(relative(join(root, layout.internal), file)),
      ),
    ),
  )
}

/** Vectors and access counts mean nothing without the memories that they belong to. */
const saysNothing = (path: string): boolean => isDerived(path) || /^(?:vectors\.|access)/.test(path)

function filesBelow(path: string): string[] {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [] : join(entry.parentPath, entry.name),
  )
}

const isSame = (path: string, digest: string): boolean =>
  !existsSync(path) || sha256(readFileSync(path)) === digest

function keepReceipts(state: string, receipts: readonly MemoryReceipt[]): void {
  if (receipts.length > 0) writeReceipts(state, receipts)
  else rmSync(receiptsPath(state), { force: true })
}

/** Written to a temporary file and renamed, so that a crash leaves the old receipts or the new ones. */
function writeReceipts(state: string, receipts: readonly MemoryReceipt[]): void {
  const path = receiptsPath(state)
  removeAbandoned(path, '.unfinished-')
  const unfinished = ownName(path, '.unfinished-')
  writeNewFile(unfinished, `${JSON.stringify(receipts, null, 2)}\n`)
  renamePatiently(unfinished, path)
}
