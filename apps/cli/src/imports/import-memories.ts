import { type ImportedMemory, readMemoryExport } from '@recall/agents'
import { type Entry, type MemoryManager, type RedactionCounts, redactJson, redactText } from '@recall/core'
import { searchableText } from '@recall/core/json'
import { beginningOf } from '@recall/core/text'
import { defaultFileSystem, type FileStore, readTombstones } from '@recall/store-file'
import { addCounts } from '../add-counts.ts'
import type { ImportJournal } from '../archiving/import-journal.ts'
import { sha256 } from '../digest.ts'
import { emptyOutcome, type ImportOutcome } from './import-report.ts'
import type { Source } from './import-sources.ts'

const batchSize = 100

/**
 * Imports the memories of other tools. The key of each is made of its source and its id there, without any secrets in
 * the id, so a second import changes nothing. A memory that a person changed here is not overwritten, nor is a note by
 * one of the same name from another folder.
 *
 * @param options.since leaves out memories that were recorded before this time, in milliseconds since the epoch, except
 * notes, which are as new as their files
 * @returns a function that imports a file, or returns `null` for an unknown format
 */
export function createMemoryImporter(
  memory: MemoryManager,
  store: FileStore,
  options: { since: number; now: number; journal: ImportJournal },
): (source: Pick<Source, 'path' | 'name' | 'changedAt'>) => Promise<ImportOutcome | null> {
  const { journal, now } = options
  const isForgotten = readTombstones(defaultFileSystem, store)

  const isKnown = async (key: string): Promise<boolean> =>
    isForgotten({ scope: 'long-term', namespace: memory.namespace, key }) ||
    (await memory.exists('long-term', key))

  const findKey = async (record: ImportedMemory, path: string): Promise<string> => {
    if (!record.isFile) return keyOf(record)
    // An edit may make a note look like one of the other kind.
    const others = noteSources.filter((source) => source !== record.source)
    for (const source of others) {
      const key = await findNoteKey(record, source, path)
      if (await isKnown(key)) return key
    }
    return findNoteKey(record, record.source, path)
  }

  /** The key of a note among those of a source, or a key of its own if a note from another file has its name. */
  const findNoteKey = async (record: ImportedMemory, source: string, path: string): Promise<string> => {
    const key = keyOf({ ...record, source })
    const own = keyOf({ ...record, source, id: `${record.id}\n${path}` })
    const present = await memory.batchRead<string>('long-term', [key, own])
    const file = fileOf(key)
    const { text } = redactText(toText(record))
    // A folder that was moved or copied holds the same notes.
    const isSame = present.get(key) === text || journal.has(key, hashOf(text))
    const isOfAnother = journal.knows(file) && !journal.has(file, hashOf(path))
    if (!isSame && (isOfAnother || present.has(own))) return own
    if (!journal.knows(file)) journal.add(file, hashOf(path))
    return key
  }

  /** An entry with the time when its memory was recorded or last changed; a source's clock never runs ahead of ours. */
  const entryOf = (
    said: Pick<Entry, 'key' | 'value' | 'type' | 'tags'>,
    recordedAt: string | undefined,
    changedAt: number,
  ): Entry => {
    const at = Math.min(recordedAt === undefined ? changedAt : Date.parse(recordedAt), now)
    return {
      scope: 'long-term',
      namespace: memory.namespace,
      ...said,
      text: searchableText(said.value),
      createdAt: at,
      updatedAt: at,
      accessedAt: at,
      accessCount: 0,
      ttl: null,
      expiresAt: null,
      encrypted: false,
      embedding: null,
    }
  }

  /** Writes the memories that are new or that only their source has changed. */
  const writeBatch = async (
    batch: ReadonlyMap<string, ImportedMemory>,
    changedAt: number,
    outcome: ImportOutcome,
  ) => {
    const present = await memory.batchRead<string>('long-term', [...batch.keys()])
    const written: Entry[] = []
    for (const [key, record] of batch) {
      const { text, counts } = redactText(toText(record))
      if (isForgotten({ scope: 'long-term', namespace: memory.namespace, key })) outcome.forgotten++
      else if (present.get(key) === text) {
        outcome.unchanged++
        journal.add(key, hashOf(text))
      } else if (present.has(key) && !journal.has(key, hashOf(present.get(key)))) outcome.kept++
      else {
        const labels = labelsOf(record)
        addCounts(outcome.redactions, counts)
        addCounts(outcome.redactions, labels.counts)
        const entry = entryOf({ key, value: text, ...labels.value }, record.at, changedAt)
        written.push(present.has(key) ? { ...entry, updatedAt: now, accessedAt: now } : entry)
      }
    }
    if (written.length > 0)
      await store.commit(written.map((put) => ({ put, options: { overwrite: true, now } })))
    for (const { key, value } of written) journal.add(key, hashOf(value))
    outcome.written += written.length
  }

  return async ({ path, name, changedAt }) => {
    const found = await readMemoryExport(path, { name, now })
    if (found === null) return null
    // A note is as new as its file, which was checked: its date may be that of its first version, or of an event.
    const recent = found.records.filter(
      ({ at, isFile }) => isFile || at === undefined || Date.parse(at) >= options.since,
    )
    const older = found.records.length - recent.length
    const wanted = withoutSecretsInIds([...new Map(recent.map((record) => [keyOf(record), record])).values()])
    const replaced = recent.length - wanted.length
    const outcome: ImportOutcome = { ...emptyOutcome(), skipped: { ...found.skipped } }
    if (older > 0) addCounts(outcome.skipped, { 'memory recorded before --since': older })
    if (replaced > 0) addCounts(outcome.skipped, { 'memory with the id of a later one': replaced })
    for (let from = 0; from < wanted.length; from += batchSize) {
      const batch = new Map<string, ImportedMemory>()
      for (const record of wanted.slice(from, from + batchSize))
        batch.set(await findKey(record, path), record)
      await writeBatch(batch, changedAt, outcome)
    }
    return outcome
  }
}

const hashOf = (value: unknown): string => sha256(JSON.stringify(value)).slice(0, 16)

const keyOf = ({ source, id }: ImportedMemory): string => `import:${source}:${sha256(id).slice(0, 20)}`

/** An id may be all that a memory says. A hash of a secret in it would confirm each guess at that secret. */
function withoutSecretsInIds(records: readonly ImportedMemory[]): ImportedMemory[] {
  const counts = new Map<string, number>()
  return records.map((record) => {
    const id = withoutSecrets(record.id)
    if (id === record.id) return record
    const count = (counts.get(id) ?? 0) + 1
    counts.set(id, count)
    // Several that differed only in their secrets stay several.
    return { ...record, id: count === 1 ? id : `${id} (${count})` }
  })
}

/** A single word that only looks random is a generated id. */
const withoutSecrets = (id: string): string =>
  /\s/.test(id) ? redactText(id).text : String((redactJson({ id }).value as { id: unknown }).id)

const fileOf = (key: string): string => `file of ${key}`

const longestTag = 80
/** The most tags that a memory accepts. */
const mostTags = 256

const tagsOf = ({ source, tags }: ImportedMemory): string[] =>
  [...new Set([`from:${source}`, ...tags].map(toTag))].filter(Boolean).slice(0, mostTags)

function labelsOf(record: ImportedMemory): {
  value: Pick<Entry, 'type' | 'tags'>
  counts: RedactionCounts
} {
  const { value, counts } = redactJson({ type: toTag(record.type ?? '') || null, tags: tagsOf(record) })
  return { value: value as Pick<Entry, 'type' | 'tags'>, counts }
}

/** A tag, or a type, in the form that a memory accepts: an invalid one would keep out all memories of its file. */
const toTag = (text: string): string =>
  beginningOf(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), longestTag).toWellFormed()

const noteSources = ['basic-memory', 'markdown']

/** Adds the origin below the text: another tool recorded it, elsewhere and earlier. */
function toText({ text, source, id, isFile, at, project }: ImportedMemory): string {
  const from = [`Imported from ${source}`, ...(project ? [`project ${project}`] : [])].join(', ')
  const clean = id.length <= 80 && !/\s/.test(id) ? ` (${id})` : ''
  // A note is as old as its file, whose time changes with each copy: so the entry has that time, but the text does not.
  const recorded = isFile && at === undefined ? '' : `, recorded ${at ?? 'at an unknown time'}`
  return `${text}\n\n${from}${clean}${recorded}.`
}
