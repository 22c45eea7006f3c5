import { join } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'
import type { Layout } from '../layout/layout.ts'
import { hasVectorFile, pathsIn, readHeader, type VectorSpace } from './vector-format.ts'

/** The model whose vectors a memory keeps, if any: this decides whether searches use meaning. */
export const keptModel = (
  { root, layout }: { root: string; layout: Layout },
  fileSystem: FileSystem = defaultFileSystem,
): VectorSpace | null => {
  const header = readHeader(fileSystem, pathsIn(join(root, layout.internal)).rows)
  return header && { model: header.model, dimensions: header.dimensions }
}

/** Whether a memory keeps vectors whose model cannot be read: its searches use words alone. */
export const hasUnreadableVectors = (
  { root, layout }: { root: string; layout: Layout },
  fileSystem: FileSystem = defaultFileSystem,
): boolean =>
  keptModel({ root, layout }, fileSystem) === null && hasVectorFile(fileSystem, join(root, layout.internal))
