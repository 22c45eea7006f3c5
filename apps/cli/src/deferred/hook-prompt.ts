import { contextLength, contextLimit, contextOutput, type HookInput, type Host } from '@recall/agents'
import {
  conversationKey,
  fenceRecalled,
  type JsonValue,
  type MemoryManager,
  redactPartsOf,
} from '@recall/core'
import {
  besideLength,
  confidenceRank,
  excerptOf,
  type FoundPassage,
  passagesFor,
  queryTerms,
  surestPassages,
} from '@recall/core/ranking'
import { beginningOf } from '@recall/core/text'
import { hurriedLockMs, type MemoryPlace, readNote } from '../hosts/session-notes.ts'
import { withMemory } from '../memory/with-memory.ts'
import { clip } from '../terminal/clip.ts'
import type { Io } from '../terminal/io.ts'

/** The host waits five seconds. A later answer is useless. */
const budgetMs = 4000
const shortestPrompt = 12
/** Words that steer an agent. A prompt of nothing else has no subject, and would match its like anywhere. */
const steering = new Set(
  queryTerms(
    `again agree ahead all alright also answer another best better carry change check clean clear come commit complete
    continue correct do doing done easy else everything exactly explain fail fast faster fine finish first fix further
    get give go good great hello help keep last leave let like look make maybe more move new next nice no now ok okay
    once one other perfect please proceed problem push quick ready really redo remaining repeat rest result resume
    retry revert right run same save see show simple simpler something start step still stop sure tell test thank thing
    think thought too try undo understand update use verify very wait want well work wrong yeah yes yet
    aren couldn d didn doesn don hasn haven isn ll m re s shouldn t ve wasn won wouldn`,
  ),
)
/** Below these, an unrequested answer would be noise: the confidence of the search, the score of a match. */
const leastConfidence = 0.25
const leastScore = 0.05
const most = 3
/** Characters of a match. Its neighbours are told as well: often the question matches, but not its answer. */
const passageLength = 800
/** Characters reserved for the fence around a recalled text. */
const overhead = 400

/** Prints what memory knows about a prompt, if anything. */
export async function recallPrompt(io: Io, place: MemoryPlace, input: HookInput): Promise<void> {
  const { prompt = '' } = input
  const isOwn = isStillTold(place, input)
  const text = hasSubject(prompt) ? await inTime(find(io, place, input.host, prompt, isOwn)) : ''
  // Fencing escapes marks inside the text, which makes it longer. A truncated block would later be taken for speech, so
  // nothing is printed.
  if (text !== '' && contextLength(input.host, text) <= contextLimit(input.host))
    io.out(contextOutput(input, text))
}

const hasSubject = (prompt: string): boolean =>
  prompt.trim().length >= shortestPrompt && queryTerms(prompt).some((term) => !steering.has(term))

async function find(
  io: Io,
  { root, layout }: MemoryPlace,
  host: Host,
  prompt: string,
  isOwn: (key: string) => boolean,
): Promise<string> {
  const opening = { root, layout: layout.name, lockTimeoutMs: hurriedLockMs }
  return withMemory(io, opening, async (memory) => {
    const found: string[] = []
    let room = contextLimit(host) - overhead
    const text = beginningOf(prompt.toWellFormed(), 2000)
    const terms = new Set(queryTerms(text))
    for (const scope of ['long-term', 'episodic'] as const) {
      const places = await placesOf(memory, scope, text, isOwn)
      for (const told of places.map((place) => describe(place, terms))) {
        const length = contextLength(host, told)
        if (length > room) break
        found.push(told)
        room -= length + 2
      }
    }
    return found.length === 0 ? '' : fenceRecalled(found.join('\n\n'), 'search of memory')
  })
}

async function placesOf(
  memory: MemoryManager,
  scope: 'long-term' | 'episodic',
  text: string,
  isOwn: (key: string) => boolean,
): Promise<FoundPassage<unknown>[]> {
  const matches = await memory.search(
    scope,
    { text },
    {
      limit: confidenceRank,
      passages: passagesFor(most),
      touch: false,
      minScore: leastScore,
      minConfidence: leastConfidence,
    },
  )
  const others = matches.filter(({ key }) => !isOwn(key))
  if ((others[0]?.confidence ?? 0) < leastConfidence) return []
  return surestPassages(others, most).filter(({ score }) => score >= leastScore)
}

/**
 * Tells which archives a session has in its context: its own, if it was resumed, and those of the sessions that it was
 * forked from. While it has a checkpoint none are: the host compacted it, and what was said before is found only here.
 */
function isStillTold(place: MemoryPlace, { sessionId }: HookInput): (key: string) => boolean {
  const { saved, state, origins = [] } = readNote(place, sessionId) ?? {}
  if (saved === 'checkpoint' || state === 'checkpoint') return () => false
  const known = saved === 'session' ? [sessionId, ...origins] : origins
  return (key) =>
    known.map((id) => conversationKey(id)).some((own) => key === own || key.startsWith(`${own}#`))
}

function describe({ match, passage }: FoundPassage<unknown>, terms: ReadonlySet<string>): string {
  const { key, value, metadata } = match
  // A person may have typed a secret into a file; it is replaced before a cut could leave half of it, which nothing
  // recognises.
  const redact = redactPartsOf({ value: value as JsonValue, type: metadata.type })
  const text = redact(passage?.text ?? (typeof value === 'string' ? value : JSON.stringify(value)))
  const beside = (passage?.neighbours ?? []).map((each) => clip(redact(each), besideLength))
  return [
    `From ${key}${passage?.path ? ` (${passage.path})` : ''}:\n${excerptOf(text, terms, passageLength)}`,
    ...(beside.length > 0 ? [`Just before and after it:\n${beside.join('\n\n')}`] : []),
  ].join('\n\n')
}

function inTime(work: Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, budgetMs, '')
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
