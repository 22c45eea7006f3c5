import { join } from 'node:path'
import { defaultFileSystem, type FileSystem } from '../file-system.ts'
import type { Layout } from '../layout.ts'
import { readHeader } from './vector-file.ts'

/** The model whose vectors a memory keeps, if it keeps any: whether meaning takes part in its searches. */
export const keptModel = (
  { root, layout }: { root: string; layout: Layout },
  fileSystem: FileSystem = defaultFileSystem,
): string | null => readHeader(fileSystem, join(root, layout.internal, 'vectors.i8'))?.model ?? null
