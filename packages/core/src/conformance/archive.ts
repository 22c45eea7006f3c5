import type { MemoryManager } from '../memory-manager.ts'

export const day = 24 * 60 * 60 * 1000

export const canArchive = (memory: MemoryManager): boolean => memory.capabilities.episodic.archive === true

/** Options that search the archive as well. */
export const all = { includeArchived: true }
