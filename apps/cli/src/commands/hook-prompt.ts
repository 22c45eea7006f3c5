import { contextLimits, contextOutput, type HookInput, silence } from '@recall/agents'
import type { MemoryMatch } from '@recall/core'
import { fenceRecalled } from '@recall/sessions'
import type { RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'
import { withMemory } from '../memory.ts'

/** The host gives five seconds; half of a memory is not worth being late. */
const budgetMs = 4000
const shortestPrompt = 12
/** Better nothing than noise: where memory is less sure than this to know of it, or a match says so little of it. */
const leastConfidence = 0.15
const leastScore = 0.1
const most = 3

/** What memory knows of a prompt, when it knows something. */
export async function recallPrompt(io: Io, options: RootOptions, input: HookInput): Promise<void> {
  const { prompt = '' } = input
  const text = prompt.trim().length < shortestPrompt ? '' : await inTime(find(io, options, prompt))
  io.out(text ? contextOutput(input, text.slice(0, contextLimits[input.host])) : silence(input.host))
}

async function find(io: Io, options: RootOptions, prompt: string): Promise<string> {
  return withMemory(io, options, async (memory) => {
    const found: string[] = []
    for (const scope of ['long-term', 'episodic'] as const) {
      const matches = await memory.search(
        scope,
        { text: prompt.slice(0, 2000) },
        { limit: most, touch: false, minScore: leastScore, minConfidence: leastConfidence },
      )
      found.push(...matches.map(describe))
    }
    return found.length === 0 ? '' : fenceRecalled(found.join('\n\n'), { source: 'search of memory' })
  })
}

function describe({ key, passage, value }: MemoryMatch<unknown>): string {
  const text = passage?.text ?? (typeof value === 'string' ? value : JSON.stringify(value))
  return `From ${key}${passage?.path ? ` (${passage.path})` : ''}:\n${text.slice(0, 800)}`
}

function inTime(work: Promise<string>): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, budgetMs, '')
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
