import { execFileSync, spawn } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openTranscript } from '@recall/agents'
import { layouts } from '@recall/store-file'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listTranscripts } from '../src/archiving/list-transcripts.ts'
import { takeArchivingLock } from '../src/hosts/lock-files.ts'
import { readNote } from '../src/hosts/session-notes.ts'
import { hasTranscripts, transcriptsFolder } from './support.ts'

const app = fileURLToPath(new URL('..', import.meta.url))

/** The bundles as users get them, since it is real processes that are killed here. */
let bundles = ''
let home = ''
beforeAll(() => {
  mkdirSync(join(app, 'node_modules/.cache'), { recursive: true })
  bundles = mkdtempSync(join(app, 'node_modules/.cache/scripted-host-'))
  execFileSync(
    process.execPath,
    [join(app, 'node_modules/tsup/dist/cli-default.js'), '--out-dir', bundles, '--silent'],
    {
      cwd: app,
    },
  )
  home = mkdtempSync(join(tmpdir(), 'recall-host-'))
})
afterAll(() => {
  rmSync(bundles, { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
})

type Payload = Record<string, unknown>
interface Ran {
  code: number | null
  out: string
}

/** One process of ours, with what the host hands over; killed after `killAfterMs`, as a host kills what is late. */
function run(argv: string[], input?: Payload, killAfterMs?: number): Promise<Ran> {
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawn(process.execPath, [join(bundles, 'recall.cjs'), ...argv], {
    cwd: home,
    env: { ...env, HOME: home, RECALL_ROOT: join(home, '.recall') },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const timer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input === undefined ? '' : JSON.stringify(input))
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, out })
    })
  })
}

/** What the settings that init wrote tell the host to run, by event. */
function hooksIn(settings: string): Map<string, string[]> {
  const { hooks } = JSON.parse(readFileSync(settings, 'utf8')) as {
    hooks: Record<string, { hooks: { command: string }[] }[]>
  }
  return new Map(
    Object.entries(hooks).map(([event, entries]) => [
      event,
      entries.flatMap((entry) => entry.hooks.map(({ command }) => command.replace(/^.*? (?=hook )/, ''))),
    ]),
  )
}

/** The words of a command line, as a shell takes them. */
const wordsOf = (command: string): string[] =>
  (command.match(/(?:"[^"]*"|[^\s"])+/g) ?? []).map((word) => word.replaceAll('"', ''))

/** Our processes that are alive, by the folder of their bundles. */
function ownProcesses(): number[] {
  return readdirSync('/proc')
    .filter((pid) => {
      try {
        return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(bundles)
      } catch {
        return false
      }
    })
    .map(Number)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It had ended by itself.
  }
}

describe.runIf(hasTranscripts())('a scripted host', () => {
  it('drives 50 sessions, with killed hooks, doubled events and late transcripts', {
    timeout: 300_000,
  }, async () => {
    mkdirSync(join(home, '.claude'))
    await run(['init', '--target', 'claude'])
    const hooks = hooksIn(join(home, '.claude/settings.json'))
    const fire = async (event: string, payload: Payload, killAfterMs?: number): Promise<Ran[]> =>
      Promise.all(
        (hooks.get(event) ?? []).map((command) =>
          run(wordsOf(command), { ...payload, hook_event_name: event }, killAfterMs),
        ),
      )
    const sources = (await listTranscripts({ cwd: '/' } as never, [transcriptsFolder])).transcripts
      // The largest ones once is enough: it is events that are tested here.
      .filter((path, i) => i < 50 && readFileSync(path).length < 300_000)
    const folder = join(home, 'projects')
    mkdirSync(folder)

    const lost: string[] = []
    for (let i = 0; i < 50; i++) {
      const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
      const transcript = join(folder, `${id}.jsonl`)
      const session = { session_id: id, transcript_path: transcript, cwd: home }
      const [start] = await fire('SessionStart', { ...session, source: 'startup' })
      expect(start?.code).toBe(0)
      const previous = i === 0 ? undefined : `00000000-0000-4000-8000-${String(i - 1).padStart(12, '0')}`
      const context =
        start?.out === ''
          ? ''
          : (JSON.parse(start?.out ?? '') as { hookSpecificOutput: { additionalContext: string } })
              .hookSpecificOutput.additionalContext
      if (previous !== undefined) expect(context, `session ${i}`).toContain(previous)
      expect(context.length).toBeLessThanOrEqual(10_000)

      // Every line gets this session's id and the hour that it has in this test.
      const source = sources[i % sources.length] as string
      const lines = readFileSync(source, 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => asSession(line, id, i))
      const isLate = i % 5 === 1
      const cut = Math.max(1, Math.floor(lines.length / 2))
      writeFileSync(transcript, `${lines.slice(0, cut).join('\n')}\n`)
      if (i % 4 === 0) {
        // One compaction may tell of itself several times.
        const told = await Promise.all(
          [1, 2, 3].map(() => fire('PreCompact', { ...session, trigger: 'auto', custom_instructions: '' })),
        )
        expect(told.flat().every(({ code, out }) => code === 0 && out === '')).toBe(true)
        const [again] = await fire('SessionStart', { ...session, source: 'compact' })
        expect(again?.code).toBe(0)
      }
      const rest = `${lines.slice(cut).join('\n')}\n`
      if (!isLate && cut < lines.length) appendFileSync(transcript, rest)
      const end = { ...session, reason: 'prompt_input_exit' }
      if (i % 7 === 3)
        lost.push(id) // The host was killed: no end is told at all.
      else if (i % 7 === 5)
        await fire('SessionEnd', end, 15) // The hook is killed halfway.
      else {
        const ended = await Promise.all([
          fire('SessionEnd', end),
          ...(i % 3 === 0 ? [fire('SessionEnd', end)] : []),
        ])
        expect(ended.flat().every(({ code, out }) => code === 0 && out === '')).toBe(true)
      }
      if (isLate && cut < lines.length) appendFileSync(transcript, rest)
      // Whoever archives in the background is killed, wherever it is.
      if (i % 7 === 6) for (const pid of ownProcesses()) kill(pid)
    }
    expect(lost.length).toBeGreaterThan(5)
    await fire('SessionStart', {
      session_id: 'last',
      transcript_path: join(folder, 'last.jsonl'),
      source: 'startup',
    })
    await expect.poll(ownProcesses, { timeout: 30_000, interval: 100 }).toEqual([])

    // Each session is archived exactly once, whole.
    const archives = join(home, '.recall/memory/conversations')
    const bodies = readdirSync(archives).map((name) => readFileSync(join(archives, name), 'utf8'))
    const ids = bodies.map((body) => /^session_id: "(.+)"$/m.exec(body)?.[1])
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBe(50)
    for (const name of readdirSync(folder)) {
      const conversation = await openTranscript(join(folder, name))
      let count = 0
      for await (const _ of conversation.messages) count++
      const body = bodies.find((each) => each.includes(`session_id: "${basename(name, '.jsonl')}"`)) ?? ''
      expect(body, name).toContain(`message_count: ${count}\n`)
    }
    const index = readFileSync(join(home, '.recall/memory/ARCHIVE.md'), 'utf8')
    expect(index.match(/^\| *\d+/gm)).toHaveLength(50)

    await run(['uninit', '--purge', '--yes'])
    expect(existsSync(join(home, '.recall'))).toBe(false)
    expect(readdirSync(join(home, '.claude'))).toEqual([])
  })

  it('keeps what several hooks of one session note at once', async () => {
    const root = join(home, 'at-once')
    await run(['init', root])
    const place = { root, layout: layouts.entity }
    // As if others were archived now: the notes stay as they are.
    const archiving = takeArchivingLock(place)
    const texts = Array.from({ length: 6 }, (_, i) => `Summary ${i}.`)
    for (const id of ['one', 'two', 'three']) {
      const session = { session_id: id, transcript_path: join(root, `${id}.jsonl`) }
      await Promise.all(
        texts.map((compact_summary) =>
          run(['hook', 'post-compact', '--root', root], {
            ...session,
            compact_summary,
            hook_event_name: 'PostCompact',
          }),
        ),
      )
      const noted = readNote(place, id)?.summaries?.map(({ text }) => text)
      expect(noted?.toSorted()).toEqual(texts)
    }
    archiving?.release()
    await expect.poll(ownProcesses, { timeout: 60_000 }).toEqual([])
  })
})

function asSession(line: string, id: string, hour: number): string {
  try {
    const value = JSON.parse(line) as Record<string, unknown>
    const at = new Date(Date.UTC(2026, 0, 1, hour)).toISOString()
    return JSON.stringify({
      ...value,
      ...('sessionId' in value ? { sessionId: id } : {}),
      ...('timestamp' in value ? { timestamp: at } : {}),
    })
  } catch {
    return line
  }
}
