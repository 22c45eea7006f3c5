import { join } from 'node:path'
import { ensureFolder, replaceFile } from './atomic-write.ts'
import type { FileStore } from './file-store.ts'
import { defaultFileSystem } from './file-system.ts'

/** Writes a small file of a tool's own, whole or not at all, beside the index. */
export function writeInternal(
  { root, layout }: Pick<FileStore, 'root' | 'layout'>,
  name: string,
  content: string,
): void {
  const folder = join(root, layout.internal)
  ensureFolder(defaultFileSystem, folder)
  replaceFile(defaultFileSystem, join(folder, name), content)
}
