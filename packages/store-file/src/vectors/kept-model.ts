import { join } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../files/file-system.ts'
import type { Layout } from '../layout/layout.ts'
import { hasVectorFile, pathsIn, readHeader } from './vector-format.ts'

interface Place {
  root: string
  layout: Layout
}

/** The model whose vectors a memory keeps, if it keeps any: whether meaning takes part in its searches. */
export const keptModel = (
  { root, layout }: Place,
  fileSystem: FileSystem = defaultFileSystem,
): string | null => readHeader(fileSystem, pathsIn(join(root, layout.internal)).rows)?.model ?? null

/** Whether a memory keeps vectors of which nobody can tell the model: its searches go by words alone. */
export const hasUnreadableVectors = (place: Place, fileSystem: FileSystem = defaultFileSystem): boolean =>
  keptModel(place, fileSystem) === null && hasVectorFile(fileSystem, join(place.root, place.layout.internal))
