import { join } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'
import type { Layout } from '../layout/layout.ts'
import { hasVectorFile, pathsIn, readHeader, type VectorSpace } from './vector-format.ts'

/** Whose vectors a memory keeps, if it keeps any: whether meaning takes part in its searches. */
export const keptModel = (
  { root, layout }: { root: string; layout: Layout },
  fileSystem: FileSystem = defaultFileSystem,
): VectorSpace | null => {
  const header = readHeader(fileSystem, pathsIn(join(root, layout.internal)).rows)
  return header && { model: header.model, dimensions: header.dimensions }
}

/** Whether a memory keeps vectors of which nobody can tell the model: its searches go by words alone. */
export const hasUnreadableVectors = (
  { root, layout }: { root: string; layout: Layout },
  fileSystem: FileSystem = defaultFileSystem,
): boolean =>
  keptModel({ root, layout }, fileSystem) === null && hasVectorFile(fileSystem, join(root, layout.internal))
