import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type CorpusDocument, createCorpus, writeCorpus } from '../corpus.ts'
import { type Ran, run } from '../processes.ts'
import type { Row } from '../report.ts'
import { quantile } from '../statistics.ts'

const cli = fileURLToPath(new URL('../../../apps/cli/dist/recall.cjs', import.meta.url))

export interface HooksOptions {
  rounds: number
  say: (text: string) => void
}

/** Notes in the memory besides the sessions. */
const notes = 1000
/** Number of sessions that fill the window, and the turns of each. */
const [earlierSessions, turns] = [5, 40]

/** The events of a session in order, with what a host passes besides the session. */
const events = {
  'session-start': { source: 'startup' },
  prompt: { prompt: 'Why does the export of the orders time out on staging?' },
  stop: {},
  'pre-compact': { trigger: 'auto' },
  'session-end': { reason: 'prompt_input_exit' },
} as const

type Event = keyof typeof events

/** How long a host waits: each event is a process, and longer work is left to another one. */
export async function measureHooks({ rounds, say }: HooksOptions): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), 'recall-bench-'))
  const root = join(home, '.recall')
  const recall = (args: readonly string[], input = ''): Ran =>
    succeeded(run(process.execPath, [cli, ...args], home, { HOME: home, RECALL_ROOT: root }, input))
  try {
    recall(['init', root])
    const { documents } = createCorpus(notes)
    writeCorpus(root, documents)
    const earlier = numbers(earlierSessions).map((i) => writeTranscript(home, `earlier-${i}`, documents))
    recall(['archive', ...earlier, '--root', root])
    const figures = new Map<string, number[]>()
    const note = (name: string, { ms }: Ran): void =>
      void figures.set(name, [...(figures.get(name) ?? []), ms])
    // The first round is not counted: it reads files that the system has not cached yet.
    for (const round of numbers(rounds + 1)) {
      const id = `session-${round}`
      const session = { session_id: id, transcript_path: writeTranscript(home, id, documents), cwd: home }
      for (const [event, more] of Object.entries(events)) {
        const input = JSON.stringify({ ...session, ...more, hook_event_name: event })
        const empty = run(process.execPath, ['-e', '0'])
        const hook = recall(['hook', event, '--root', root], input)
        if (round > 0) {
          note('empty', empty)
          note(event, hook)
        }
        await archived(root)
      }
      if (round % 10 === 0) say(`round ${round} of ${rounds}`)
    }
    const archives = readdirSync(join(root, 'memory/conversations')).length
    if (archives !== earlierSessions + rounds + 1) throw new Error(`only ${archives} sessions were archived`)
    return rowsOf(figures)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function rowsOf(figures: ReadonlyMap<string, number[]>): Row[] {
  const at = (name: string, q: number): number => quantile(figures.get(name) ?? [], q)
  const rows = (Object.keys(events) as Event[]).flatMap((event) =>
    [0.5, 0.95].map((q) => ({
      what: `${event} p${q * 100}, ms`,
      size: notes,
      ours: at(event, q),
      peer: 'empty Node process',
      peers: at('empty', q),
      ratio: at(event, q) / at('empty', q),
      // A prompt is looked up only if a person wants that.
      ...(q === 0.95 && event !== 'prompt' ? { bound: 3 } : {}),
    })),
  )
  const slowest = at('prompt', 1)
  const limit = 5000
  return [
    ...rows,
    {
      what: 'prompt, slowest, ms',
      size: notes,
      ours: slowest,
      peer: 'limit',
      peers: limit,
      ratio: slowest / limit,
      bound: 1,
    },
  ]
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

function succeeded(ran: Ran): Ran {
  if (ran.code !== 0 || ran.err !== '') throw new Error(`recall failed: ${ran.err || ran.out}`)
  return ran
}

/** A session in the form of Claude Code; its path. */
function writeTranscript(home: string, id: string, documents: readonly CorpusDocument[]): string {
  const path = join(home, 'projects', `${id}.jsonl`)
  mkdirSync(join(home, 'projects'), { recursive: true })
  const begun = Date.UTC(2026, 0, 1)
  const lines = numbers(turns).map((i) => {
    const role = i % 2 === 0 ? 'user' : 'assistant'
    const { text } = documents[(i * 7 + id.length) % documents.length] as CorpusDocument
    return JSON.stringify({
      type: role,
      uuid: `${id}-${i}`,
      sessionId: id,
      timestamp: new Date(begun + i * 60_000).toISOString(),
      cwd: home,
      message: { role, content: role === 'user' ? text.slice(0, 200) : [{ type: 'text', text }] },
    })
  })
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

/** Waits until the detached process has done its work, so that it does not slow down the next event. */
async function archived(root: string): Promise<void> {
  const deadline = performance.now() + 60_000
  // It may take a moment to begin.
  await wait(150)
  while (existsSync(join(root, 'memory/.recall/archiving.lock'))) {
    if (performance.now() > deadline) throw new Error('archiving does not end')
    await wait(20)
  }
}
