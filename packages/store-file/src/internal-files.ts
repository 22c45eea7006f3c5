import { join } from 'node:path'
import type { FileStore } from './file-store.ts'
import { replaceFile } from './files/atomic-write.ts'
import { defaultFileSystem } from './files/file-system.ts'
import { ensureBelow, onlyUser } from './files/folders.ts'

/** Writes a small file that belongs to a tool, whole or not at all, next to the index. */
export function writeInternal(
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
  name: string,
  content: string,
): void {
  const folder = join(root, layout.internal)
  ensureBelow(defaultFileSystem, root, folder, onlyUser)
  replaceFile(defaultFileSystem, join(folder, name), content)
}
