import { type Embedder, errorStatus, isMemoryError } from '@recall/core'
import type { FileSystem } from '../files/file-system.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import { isUnwritable } from '../sqlite/errors.ts'
import { countKeptVectors, dropUnusedVectors } from './drop-unused-vectors.ts'
import { bringInStep } from './in-step.ts'
import type { Coverage } from './missing-vectors.ts'
import { everyText, type UnitTexts } from './texts.ts'
import { openKeptVectors } from './vector-file.ts'
import { hasVectorFile, pathsIn, readHeader } from './vector-format.ts'
import { createVectorIndex } from './vector-index.ts'
import { unlessReplaced } from './vectors-replaced.ts'

export interface MemoryVectorsOptions {
  fileSystem: FileSystem
  /** Folder of the index. */
  internal: string
  index: MemoryIndex
  /** Without one, existing vectors can be counted and dropped, and nothing is found by meaning. */
  embedder: Embedder | undefined
  onNotice: (text: string) => void
  /** Runs a section while no other process runs one. */
  exclusively: <T>(section: () => T) => T
  unitTexts: UnitTexts
}

export type MemoryVectors = ReturnType<typeof createMemoryVectors>

/** The vectors next to the index of one memory, with or without an embedder. */
export function createMemoryVectors(options: MemoryVectorsOptions) {
  const { fileSystem, internal, index, embedder, onNotice, exclusively, unitTexts } = options
  const vectors =
    embedder &&
    createVectorIndex({ fileSystem, folder: internal, embedder, index, onNotice, exclusively, unitTexts })
  /** When to try making vectors again after a failure. */
  let retryAt = Number.NEGATIVE_INFINITY
  /** A time further ahead than a pause was noted before the clock was set back. */
  const isPausing = (now: number): boolean => now < retryAt && retryAt <= now + withoutVectorsMs
  const noticed = new Set<string>()
  const notice = (reason: string): void => {
    const problem = `${reason}: passages without a vector are found by words, not by meaning`
    if (!noticed.has(problem)) onNotice(problem)
    noticed.add(problem)
  }

  const forgetUnused = (): void => {
    if (!hasVectorFile(fileSystem, internal)) return
    const used = index.query((current) => hashesOfAll(current, unitTexts))
    exclusively(() => dropUnusedVectors(fileSystem, internal, used))
  }

  return {
    /** Set when there is an embedder. */
    vectors,

    /** Works without an embedder: the vectors' own header names their model. */
    coverage(now: number): Coverage | null {
      return unlessReplaced(() => {
        const header = readHeader(fileSystem, pathsIn(internal).rows)
        if (!header) return null
        return index.query((current) => {
          bringInStep(current, openKeptVectors(fileSystem, internal, header), unitTexts)
          return { model: header.model, ...current.vectorCounts(now) }
        })
      })
    },

    /** A vector reveals something of its text, so those of texts that are no longer in any file are dropped. */
    forgetUnused,

    /**
     * The same where most are of such texts: each text that is rewritten leaves its vector behind. Call it when the index
     * has just been brought up to date.
     */
    forgetMostlyUnused(): void {
      if (!hasVectorFile(fileSystem, internal)) return
      const { total } = index.asIs().vectorCounts(Number.NEGATIVE_INFINITY)
      if (countKeptVectors(fileSystem, internal) > 2 * total + fewVectors) forgetUnused()
    },

    /**
     * Embeds recent writes, as many as a search can wait for. If vectors cannot be made or stored, searches use words and
     * the vectors that exist.
     *
     * @returns how many units are left
     */
    async embedRecent(now: number): Promise<number> {
      if (!vectors || isPausing(now)) return 0
      try {
        const left = await vectors.embedNewest(soonEmbedded, now)
        const refusal = vectors.refusal()
        if (refusal !== undefined) notice(refusal)
        return left
      } catch (error) {
        const reason = isUnwritable(error) ? `${internal} cannot be written` : passingReason(error)
        if (reason === null) throw error
        retryAt = now + withoutVectorsMs
        notice(reason)
        return 0
      }
    },
  }
}

/**
 * Characters that a search embeds before it answers, which takes about two seconds where the model is slow; the rest is
 * left to the next search and to `reindex`.
 */
const soonEmbedded = 6000

/** So few are not worth going through all texts. */
const fewVectors = 100

/** The hashes of all texts that may have a vector. */
function hashesOfAll(current: SearchIndex, unitTexts: UnitTexts): Set<string> {
  const all = new Set<string>()
  for (const documents of everyText(current, unitTexts))
    for (const hash of documents.flatMap(({ hashes }) => hashes)) all.add(hash)
  return all
}

/** How long to wait after a vector could not be made or stored, in milliseconds. */
const withoutVectorsMs = 60_000

/** The message of a model that cannot embed at the moment; `null` for any other failure. */
const passingReason = (error: unknown): string | null =>
  isMemoryError(error) && errorStatus[error.code].retryable ? error.message : null
