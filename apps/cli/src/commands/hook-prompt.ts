import { contextLimits, contextOutput, type HookInput } from '@recall/agents'
import { beginningOf, excerptOf, fenceRecalled, type MemoryMatch, queryTerms, redactText } from '@recall/core'
import type { RootOptions } from '../memory/find-root.ts'
import { withMemory } from '../memory/memory.ts'
import { clip } from '../terminal/clip.ts'
import type { Io } from '../terminal/io.ts'

/** The host waits five seconds. A late answer is of no use. */
const budgetMs = 4000
const shortestPrompt = 12
/** Below these, an answer would be noise: the confidence of the search, and the score of a match. */
const leastConfidence = 0.15
const leastScore = 0.1
const most = 3
/** Characters of a match, and of its neighbours: a question often matches, but not its answer. */
const passageLength = 800
const besideLength = 300
/** Characters reserved for the fence around a recalled text. */
const overhead = 400

/** Prints what memory knows about a prompt, if anything. */
export async function recallPrompt(io: Io, options: RootOptions, input: HookInput): Promise<void> {
  const { prompt = '' } = input
  const limit = contextLimits[input.host]
  const text = prompt.trim().length < shortestPrompt ? '' : await inTime(find(io, options, prompt, limit))
  // Fencing escapes marks inside the text, which makes it longer. A truncated block would later be taken for speech,
  // so nothing is printed.
  if (text !== '' && text.length <= limit) io.out(contextOutput(input, text))
}

async function find(io: Io, options: RootOptions, prompt: string, limit: number): Promise<string> {
  return withMemory(io, options, async (memory) => {
    const found: string[] = []
    let room = limit - overhead
    const text = beginningOf(prompt.toWellFormed(), 2000)
    const terms = new Set(queryTerms(text))
    for (const scope of ['long-term', 'episodic'] as const) {
      const matches = await memory.search(
        scope,
        { text },
        { limit: most, touch: false, minScore: leastScore, minConfidence: leastConfidence },
      )
      for (const told of matches.map((match) => describe(match, terms))) {
        if (told.length > room) break
        found.push(told)
        room -= told.length + 2
      }
    }
    return found.length === 0 ? '' : fenceRecalled(found.join('\n\n'), 'search of memory')
  })
}

function describe({ key, passage, value }: MemoryMatch<unknown>, terms: ReadonlySet<string>): string {
  const text = withoutSecrets(passage?.text ?? (typeof value === 'string' ? value : JSON.stringify(value)))
  const beside = (passage?.neighbours ?? []).map((each) => clip(withoutSecrets(each), besideLength))
  return [
    `From ${key}${passage?.path ? ` (${passage.path})` : ''}:\n${excerptOf(text, terms, passageLength)}`,
    ...(beside.length > 0 ? [`Just before and after it:\n${beside.join('\n\n')}`] : []),
  ].join('\n\n')
}

/** A person may have typed a secret into a file; replaced before a cut could leave half of it, which nothing recognises. */
const withoutSecrets = (text: string): string => redactText(text).text

function inTime(work: Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, budgetMs, '')
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
