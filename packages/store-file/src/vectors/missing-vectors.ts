import type { Embedder } from '@recall/core'
import type { HashedRow } from '../search-index/document-row.ts'
import type { MemoryIndex } from '../search-index/memory-index.ts'
import type { SearchIndex } from '../search-index/search-index.ts'
import { putKnown } from './in-step.ts'
import { createRefusedTexts, embedUnlessRefused, isVector } from './refused-texts.ts'
import { type DocumentTexts, documentsAtOnce, textsOf, type UnitTexts } from './texts.ts'
import type { VectorFile } from './vector-file.ts'

export interface EmbedProgress {
  /** Units that got their vector, and those that lacked one at the start. */
  done: number
  total: number
}

/** Passages that stay without a vector, because the model refuses them. */
export interface RefusedPassages {
  count: number
  /** Why the first one was refused, and where it is, below the root. */
  reason: string
  path: string
  key: string
}

export interface Coverage {
  model: string
  /** Units that have a vector, out of all that could have one. */
  embedded: number
  total: number
}

export interface MissingVectorsOptions {
  embedder: Embedder
  index: MemoryIndex
  /** Runs a section while no other process runs one. */
  exclusively: <T>(section: () => T) => T
  unitTexts: UnitTexts
}

/** The existing vectors. */
interface KeptVectors {
  /** `undefined` when they were deleted, or never made. */
  kept(): VectorFile | undefined
  /** Creates the files where there are none. The caller holds the memory's lock. */
  open(): VectorFile
  /** Brings an index in step with them. */
  inStep(current: SearchIndex, file: VectorFile): VectorFile
  /** Reads them, and again if they were replaced meanwhile. */
  steadily<T>(look: () => T): T
}

/** Makes vectors for texts that have none. */
export function createMissingVectors(
  { kept, open, inStep, steadily }: KeptVectors,
  { embedder, index, exclusively, unitTexts }: MissingVectorsOptions,
) {
  const refused = createRefusedTexts()
  /** The vectors, and the state of the index, at a time when only `left` units lacked one, all refused by the model. */
  let caughtUp: { file: VectorFile | undefined; state: string; left: number } | undefined
  const stateNow = (): string => index.query((current) => current.state())

  /**
   * How many units lacked a vector, all of them refused by the model, when this was last looked at; `undefined` when
   * something else lacked one, or something changed since.
   */
  const leftWhenCaughtUp = (): number | undefined => {
    const file = steadily(kept)
    if (file) return file === caughtUp?.file && stateNow() === caughtUp.state ? caughtUp.left : undefined
    // Vectors that were lost or damaged have to be made again, even if all had been made before.
    exclusively(open)
    return undefined
  }

  const coverage = (now: number): Coverage =>
    steadily(() =>
      index.query((current) => {
        const file = kept()
        if (file) inStep(current, file)
        const { embedded, total } = current.vectorCounts(now)
        return { model: embedder.model, embedded: file ? embedded : 0, total }
      }),
    )

  const recorded = (): number => steadily(() => index.query((current) => current.countVectors()))

  /** How many units have no vector and are to get one. */
  const lacking = (now: number): number => {
    // Read first, so that texts written meanwhile are not taken for caught up.
    const state = stateNow()
    const { embedded, total } = coverage(now)
    if (embedded === total) caughtUp = { file: steadily(kept), state, left: 0 }
    return total - embedded
  }

  /** Texts by their hash, without those that have a vector or are refused. */
  const missingOf = (documents: readonly DocumentTexts[]): [hash: string, text: string][] => {
    const known = steadily(() => kept()?.slots())
    const texts = documents.flatMap(({ texts, hashes }) => hashes.map((hash, i) => [hash, texts[i]] as const))
    return [...new Map(texts as [string, string][])].filter(
      ([hash]) => !known?.has(hash) && !refused.has(hash),
    )
  }

  /** Embeds texts and stores their vectors, batch by batch; `onEmbedded` gets the number of texts that got one. */
  const embed = async (
    missing: readonly (readonly [hash: string, text: string])[],
    { signal, onEmbedded }: { signal?: AbortSignal | undefined; onEmbedded?: (count: number) => void } = {},
  ): Promise<void> => {
    let embedded = 0
    for (let done = 0; done < missing.length; ) {
      const some = missing.slice(done, endOfStep(missing, done))
      const texts = some.map(([, text]) => text)
      const answers = await embedUnlessRefused(embedder, texts, signal ? { signal } : {})
      const made = some.flatMap(([hash], i) => {
        const answer = answers[i] as (typeof answers)[number]
        if (isVector(answer)) return { hash, vector: answer }
        refused.add(hash, answer.message)
        return []
      })
      // Stored batch by batch: an interrupted run resumes from here.
      exclusively(() => {
        const file = open()
        const known = file.slots()
        const added = made.filter(({ hash }) => !known.has(hash))
        file.append(added.map(({ hash, vector }) => ({ hash: Buffer.from(hash, 'hex'), vector })))
      })
      done += some.length
      embedded += made.length
      onEmbedded?.(embedded)
    }
  }

  /** Tells the index where the vectors of documents are. */
  const record = (documents: readonly DocumentTexts[]): void =>
    steadily(() =>
      exclusively(() =>
        index.query((current) => {
          const file = inStep(current, open())
          // Vectors that disappeared meanwhile are missing again, and the next call finds their texts.
          putKnown(current, file.generation, file.slots(), documents)
        }),
      ),
    )

  /** The newest documents with texts that have no vector, until these texts add up to so many characters. */
  const newestMissing = (characters: number, now: number) =>
    index.query((current) => {
      const documents: DocumentTexts[] = []
      const missing = new Map<string, string>()
      let room = characters
      const read = unitTexts()
      for (const row of allWithoutVectors(current, now)) {
        const found = textsOf([row], () => read)
        documents.push(...found)
        for (const [hash, text] of missingOf(found)) {
          const isFull = room < text.length || missing.size === textsAtOnce
          if (isFull && missing.size > 0) return { documents, missing: [...missing] }
          missing.set(hash, text)
          room -= text.length
        }
      }
      return { documents, missing: [...missing] }
    })

  /** How many units of these documents the model refuses, and the first one. */
  const refusedOf = (documents: readonly DocumentTexts[]): RefusedPassages | undefined => {
    const found = documents.flatMap(({ row, hashes }) =>
      hashes.flatMap((hash) => (refused.has(hash) ? { row, hash } : [])),
    )
    const [first] = found
    if (!first) return undefined
    const { folder, name, key } = first.row
    const folders = index.query((current) => current.folders())
    const path = folders.find(({ id }) => id === folder)?.path
    const reason = refused.reasonOf(first.hash) ?? ''
    return { count: found.length, reason, path: path ? `${path}/${name}` : name, key }
  }

  return {
    /** What has expired counts only as far as it has vectors: it gets no others. */
    coverage: (now = Date.now()): Coverage => coverage(now),

    /** Why the model refuses a text, if it refuses one. */
    refusal: refused.reason,

    /**
     * Makes vectors for all units that have none, except those that the model refuses and those that have expired.
     * May be interrupted at any time.
     *
     * @param options.now when entries count as expired; by default, now
     * @throws MemoryError CONFLICT when the stored vectors are from another model, and whatever the embedder throws
     */
    async catchUp({
      now = Date.now(),
      signal,
      onProgress,
    }: {
      now?: number
      signal?: AbortSignal
      onProgress?: (progress: EmbedProgress) => void
    } = {}): Promise<EmbedProgress & { refused?: RefusedPassages }> {
      if (leftWhenCaughtUp() === 0) return { done: 0, total: 0 }
      const total = lacking(now)
      const first = recorded()
      let refusals: RefusedPassages | undefined
      let done = 0
      let after = 0
      if (total > 0) onProgress?.({ done, total })
      while (done < total) {
        const { rows, documents } = index.query((current) => {
          const rows = current.documentsWithUnits(after, documentsAtOnce, now)
          return { rows, documents: textsOf(rows, unitTexts) }
        })
        const last = rows.at(-1)
        if (!last) break
        after = last.id
        const before = done
        const onEmbedded = (count: number) => onProgress?.({ done: before + count, total })
        await embed(missingOf(documents), { signal, onEmbedded })
        record(documents)
        const more = refusedOf(documents)
        if (more) refusals = { ...more, ...refusals, count: (refusals?.count ?? 0) + more.count }
        done = Math.min(total, Math.max(0, recorded() - first))
        onProgress?.({ done, total })
      }
      if (done === total) lacking(now)
      return { done, total, ...(refusals ? { refused: refusals } : {}) }
    },

    /**
     * Makes vectors for the newest of the units that have none: few enough for a search to wait for them.
     *
     * @returns how many are left
     * @throws like `catchUp`
     */
    async embedNewest(characters: number, now: number): Promise<number> {
      const known = leftWhenCaughtUp()
      if (known !== undefined) return known
      // Read first, as in `lacking`.
      const state = stateNow()
      const total = lacking(now)
      if (total === 0) return 0
      const first = recorded()
      const { documents, missing } = newestMissing(characters, now)
      await embed(missing)
      record(documents)
      const left = Math.max(0, total - (recorded() - first))
      if (missing.length === 0) caughtUp = { file: steadily(kept), state, left }
      return left
    },
  }
}

/** All documents in which some unit is to get a vector, the last indexed first. */
function* allWithoutVectors(current: SearchIndex, now: number): Generator<HashedRow> {
  for (let before = Number.MAX_SAFE_INTEGER; ; ) {
    const rows = current.newestWithoutVectors(before, documentsAtOnce, now)
    const last = rows.at(-1)
    if (!last) return
    before = last.id
    yield* rows
  }
}

/** Texts, and their characters, embedded between two reports of progress: what an interruption may cost. */
const textsAtOnce = 64
const charactersAtOnce = 32_000

/** Where the step that begins at `from` ends; it holds at least one text. */
function endOfStep(missing: readonly (readonly [hash: string, text: string])[], from: number): number {
  const most = Math.min(from + textsAtOnce, missing.length)
  let characters = 0
  for (let i = from; i < most; i++) {
    characters += missing[i]?.[1].length ?? 0
    if (characters > charactersAtOnce) return Math.max(i, from + 1)
  }
  return most
}
