import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { create, extract } from 'tar'
import { findRoot, type RootOptions } from '../find-root.ts'
import { formatBytes } from '../format.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/** What is derived or belongs to running processes stays out. */
const derived = /(?:^|\/)(?:\.tmp-|index\.(?:db|seal)|lock|writers(?:\/|$)|journal\.json$)/

export async function backup(
  io: Io,
  file: string,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  const target = resolve(io.cwd, file)
  return withStore(io, options, async (store) => {
    const { root, layout } = store
    const present = [...new Set([layout.memory, layout.window, layout.archiveIndex, layout.archives])]
      .filter((path) => existsSync(join(root, path)))
      .filter((path) => path === layout.memory || !path.startsWith(`${layout.memory}/`))
    const unfinished = `${target}.unfinished`
    let files = 0
    let bytes = 0
    // Under the lock, so that the files of one session are saved together or not at all.
    store.exclusively(() => {
      create(
        {
          gzip: true,
          cwd: root,
          file: unfinished,
          sync: true,
          portable: true,
          filter: (path, stat) => {
            if (derived.test(path)) return false
            if ('size' in stat && 'isFile' in stat && stat.isFile()) {
              files++
              bytes += stat.size
            }
            return true
          },
        },
        present,
      )
    })
    // Whoever is told that there is a backup may delete the original.
    makeDurable(unfinished, 'r+')
    renameSync(unfinished, target)
    if (process.platform !== 'win32') makeDurable(dirname(target), 'r')
    if (options.json) io.out(`${JSON.stringify({ file: target, files, bytes })}\n`)
    else io.out(`${target}: ${files} files, ${formatBytes(bytes)} before compression\n`)
    return undefined
  })
}

function makeDurable(path: string, flags: string): void {
  const descriptor = openSync(path, flags)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export async function restore(
  io: Io,
  file: string,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  const source = resolve(io.cwd, file)
  if (!existsSync(source)) throw new MemoryError(`${source} does not exist`, MemoryErrorCode.NOT_FOUND)
  const root = findRoot(io, options)
  const occupied = existsSync(join(root, 'memory')) && readdirSync(join(root, 'memory')).length > 0
  if (occupied) {
    throw new MemoryError(
      `${root} already holds a memory: move it away, or name another --root`,
      MemoryErrorCode.CONFLICT,
    )
  }
  mkdirSync(dirname(root), { recursive: true })
  // Unpacked beside the root and moved in at the end: a restore that fails leaves nothing half-done.
  const staging = `${root}.restoring-${process.pid}`
  mkdirSync(staging)
  try {
    await extract({ file: source, cwd: staging, strict: true, preservePaths: false })
    mkdirSync(root, { recursive: true })
    for (const name of readdirSync(staging)) renameSync(join(staging, name), join(root, name))
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  const documents = await withStore(io, { ...options, root }, (store) => {
    store.reindex({ full: true })
    return store.index.asIs().countDocuments()
  })
  if (options.json) io.out(`${JSON.stringify({ root, documents })}\n`)
  else io.out(`Restored ${documents} entries to ${root}\n`)
  return undefined
}
