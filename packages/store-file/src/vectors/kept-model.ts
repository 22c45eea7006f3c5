import { join } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'
import type { Layout } from '../layout/layout.ts'
import { hasVectorFile, pathsIn, readHeader } from './vector-format.ts'

/** The model whose vectors a memory keeps, if it keeps any: whether meaning takes part in its searches. */
export const keptModel = (
  { root, layout }: { root: string; layout: Layout },
  fileSystem: FileSystem = defaultFileSystem,
): string | null => readHeader(fileSystem, pathsIn(join(root, layout.internal)).rows)?.model ?? null

/** Whether a memory keeps vectors of which nobody can tell the model: its searches go by words alone. */
export const hasUnreadableVectors = (
  { root, layout }: { root: string; layout: Layout },
  fileSystem: FileSystem = defaultFileSystem,
): boolean =>
  keptModel({ root, layout }, fileSystem) === null && hasVectorFile(fileSystem, join(root, layout.internal))
