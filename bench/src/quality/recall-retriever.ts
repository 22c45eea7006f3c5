import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  conversationKey,
  createMemoryManager,
  type Embedder,
  type MemoryManager,
  type MemoryMatch,
} from '@recall/core'
import { type RankWeights, surestFirst } from '@recall/core/ranking'
import { archiveSession } from '@recall/sessions'
import { openFileStore } from '@recall/store-file'
import type { Collection, Doc } from './data-set.ts'
import type { Ranking, Retriever } from './retriever.ts'

export interface RecallOptions {
  name: string
  embedder?: Embedder
  ranking?: Partial<RankWeights>
  /** Also asks without the evidence, which takes far longer. */
  abstains?: boolean
  /** Where to keep a collection instead of in files; the memory is empty. */
  openMemory?: (options: { embedder?: Embedder; redact: 'allow' }) => Promise<MemoryManager>
}

/**
 * Recall on files or another store, through the calls its users have: each session is archived as one conversation,
 * each other document is written as one note, and `search` finds them.
 */
export function recallRetriever({ name, embedder, ranking, abstains, openMemory }: RecallOptions): Retriever {
  return {
    name,
    async open(collection) {
      // The texts of a data set are not our secrets; the embedder outlives a memory.
      const options = {
        redact: 'allow',
        ...(embedder ? { embedder: { ...embedder, close: async () => {} } } : {}),
      } as const
      const { memory, settle, rebuild, remove } = openMemory
        ? { memory: await openMemory(options), settle: async () => {}, rebuild: undefined, remove: () => {} }
        : await openFiles(options, ranking)
      const { sessions, notes } = split(collection)
      for (const [id, docs] of sessions) await archive(memory, id, docs)
      await writeNotes(memory, notes)
      await settle()
      const turns = new Map([...sessions].map(([id, docs]) => [id, byText(docs)]))

      const search = async (text: string): Promise<Ranking> =>
        together([
          ...(sessions.size > 0 ? [await searchTurns(memory, text, turns)] : []),
          ...(notes.length > 0 ? [await searchNotes(memory, text)] : []),
        ])
      let tornMemories = 0
      const searchWithout = async (ids: readonly string[], text: string): Promise<Ranking> => {
        const gone = new Set(ids)
        const torn = [...sessions].filter(([, docs]) => docs.some(({ id }) => gone.has(id)))
        for (const [id, docs] of torn) {
          await memory.delete('episodic', conversationKey(id))
          const rest = docs.filter((doc) => !gone.has(doc.id))
          if (rest.length > 0) await archive(memory, id, rest)
        }
        for (const { id } of notes) if (gone.has(id)) await memory.delete('long-term', id)
        // Deleted rows still count in how rare a word is, so they have to stay few.
        if (torn.length > 0 && ++tornMemories % 20 === 0) await rebuild?.()
        else await settle()
        const ranking = await search(text)
        for (const [id, docs] of torn) {
          await memory.delete('episodic', conversationKey(id))
          await archive(memory, id, docs)
        }
        await writeNotes(
          memory,
          notes.filter(({ id }) => gone.has(id)),
        )
        return ranking
      }

      return {
        search,
        ...(rebuild && abstains ? { searchWithout } : {}),
        async close() {
          await memory.close()
          remove()
        },
      }
    },
  }
}

async function openFiles(
  options: { embedder?: Embedder; redact: 'allow' },
  ranking: Partial<RankWeights> | undefined,
) {
  const root = mkdtempSync(join(tmpdir(), 'recall-quality-'))
  const store = await openFileStore({
    root,
    create: true,
    ...(options.embedder ? { embedder: options.embedder } : {}),
    ...(ranking ? { ranking } : {}),
  })
  return {
    memory: createMemoryManager({ stores: store, ...options }),
    settle: async () => void (await store.vectors?.catchUp()),
    rebuild: async () => {
      store.reindex({ full: true })
      await store.vectors?.catchUp()
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}

function split({ docs }: Collection): { sessions: Map<string, Doc[]>; notes: Doc[] } {
  const sessions = new Map<string, Doc[]>()
  for (const doc of docs) {
    if (doc.session === null) continue
    sessions.set(doc.session, [...(sessions.get(doc.session) ?? []), doc])
  }
  return { sessions, notes: docs.filter(({ session }) => session === null) }
}

async function archive(memory: MemoryManager, sessionId: string, docs: readonly Doc[]): Promise<void> {
  await archiveSession(memory, {
    sessionId,
    facts: { skipped: {} },
    messages: docs.map((doc) => ({
      id: doc.id,
      // Consecutive messages of an assistant would become one turn; the speaker is in the text.
      role: 'user',
      content: [{ type: 'text', text: doc.text }],
      ...(doc.time ? { at: doc.time } : {}),
    })),
  })
}

async function writeNotes(memory: MemoryManager, notes: readonly Doc[]): Promise<void> {
  for (let i = 0; i < notes.length; i += 500) {
    const some = notes.slice(i, i + 500)
    await memory.batchWrite(
      'long-term',
      some.map(({ id, text }) => ({ key: id, value: text })),
    )
  }
}

/** The id of a turn by its text; of turns that say the same, any will do. */
const byText = (docs: readonly Doc[]): Map<string, string> =>
  new Map(docs.map(({ id, text }) => [text.replace(/\s+/g, ' ').trim(), id]))

/** The result of one search: documents with their confidence, best first. */
interface Scored extends Omit<Ranking, 'docs'> {
  docs: [id: string, confidence: number][]
}

/** One list of the turns and notes that were found, the surest first. */
function together(searches: readonly Scored[]): Ranking {
  const docs = searches.flatMap((search) => search.docs).sort(([, a], [, b]) => b - a)
  const sessions = searches.flatMap((search) => search.sessions ?? [])
  return {
    docs: [...new Set(docs.map(([id]) => id))],
    ...(sessions.length > 0 ? { sessions } : {}),
    confidence: Math.max(0, ...searches.map(({ confidence = 0 }) => confidence)),
  }
}

async function searchTurns(
  memory: MemoryManager,
  text: string,
  turns: ReadonlyMap<string, ReadonlyMap<string, string>>,
): Promise<Scored> {
  const matches = await memory.search('episodic', { text }, { limit: 50, passages: 50, touch: false })
  const passages = matches.flatMap((match) =>
    (match.passages ?? []).map(({ text, score = 0, confidence = 0 }) => ({ match, text, score, confidence })),
  )
  return {
    docs: passages.sort(surestFirst).flatMap(({ match, text, confidence }): Scored['docs'] => {
      const id = turnOf(text, turns.get(sessionOf(match)))
      return id === undefined ? [] : [[id, confidence]]
    }),
    sessions: [...new Set(matches.map(sessionOf))],
    confidence: matches[0]?.confidence ?? 0,
  }
}

const sessionOf = ({ key }: MemoryMatch<unknown>): string =>
  key.replace(/^conversation:/, '').replace(/#\d+$/, '')

/** Only part of a long turn may match; summaries are not turns. */
function turnOf(passage: string, turns: ReadonlyMap<string, string> | undefined): string | undefined {
  const said = passage
    .replace(/^### (?:User|Assistant)\n/, '')
    .replace(/\s+/g, ' ')
    .trim()
  const whole = turns?.get(said)
  if (whole !== undefined || said.length < 200 || passage.startsWith('## ')) return whole
  for (const [text, id] of turns ?? []) if (text.includes(said)) return id
  return undefined
}

async function searchNotes(memory: MemoryManager, text: string): Promise<Scored> {
  const matches = await memory.search('long-term', { text }, { limit: 100, touch: false })
  return {
    docs: matches.map(({ key, confidence = 0 }) => [key, confidence]),
    confidence: matches[0]?.confidence ?? 0,
  }
}
