import { closeSync, fchmodSync, fstatSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs'

const syncingCalls = { closeSync, fsyncSync, openSync }

/** Waits until a file is on the disk. */
export const syncFile = (path: string, fileSystem = syncingCalls): void =>
  // Windows syncs only what is open for writing.
  sync(path, 'r+', fileSystem)

/** Makes the names in a folder durable. Windows cannot open folders and needs no such call. */
export function syncFolder(path: string, fileSystem = syncingCalls): void {
  if (process.platform !== 'win32') sync(path, 'r', fileSystem)
}

function sync(path: string, flags: 'r' | 'r+', fileSystem: typeof syncingCalls): void {
  const descriptor = fileSystem.openSync(path, flags)
  try {
    fileSystem.fsyncSync(descriptor)
  } finally {
    fileSystem.closeSync(descriptor)
  }
}

/**
 * Creates a file and waits until its content is on the disk. If that fails, nothing is left of it.
 *
 * @param mode permissions of the file, whatever the umask; default: those that the umask leaves
 * @throws what `node:fs` throws: EEXIST when the name is taken
 */
export function writeNewFile(path: string, content: string | Uint8Array, mode?: number): void {
  const descriptor = openSync(path, 'wx', mode)
  try {
    if (mode !== undefined && (fstatSync(descriptor).mode & 0o777) !== mode) fchmodSync(descriptor, mode)
    writeFileSync(descriptor, content)
    fsyncSync(descriptor)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  } finally {
    closeSync(descriptor)
  }
}
