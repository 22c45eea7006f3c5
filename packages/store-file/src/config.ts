import { join } from 'node:path'
import { parse } from 'smol-toml'
import * as z from 'zod/mini'
import type { FileSystem } from './file-system.ts'
import type { Layout } from './layout.ts'
import { readText } from './read-text.ts'

/** Settings of `.recall-echo.toml`. */
export interface FileMemoryConfig {
  ephemeral: {
    /** Sessions that the rolling window keeps, 1..50. */
    maxEntries: number
  }
}

export const defaultConfig: FileMemoryConfig = { ephemeral: { maxEntries: 5 } }

const configSchema = z.object({
  ephemeral: z.optional(z.object({ max_entries: z.optional(z.int().check(z.gte(1), z.lte(50))) })),
})

/**
 * The settings of a memory. A missing file means the defaults; so does a value that makes no sense, but then
 * `problem` says what is wrong with it.
 */
export function readConfig(
  fileSystem: FileSystem,
  root: string,
  layout: Layout,
): { config: FileMemoryConfig; problem?: string } {
  const path = join(root, layout.config)
  try {
    const file = readText(fileSystem, path)
    if (!file) return { config: defaultConfig }
    const { ephemeral } = configSchema.parse(parse(file.content))
    return { config: { ephemeral: { maxEntries: ephemeral?.max_entries ?? defaultConfig.ephemeral.maxEntries } } }
  } catch (error) {
    return { config: defaultConfig, problem: `${layout.config} is not valid, the defaults are used: ${(error as Error).message.split('\n')[0]}` } // prettier-ignore
  }
}
