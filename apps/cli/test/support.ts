import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { openFileMemory } from '@recall/store-file'
import { onTestFinished } from 'vitest'
import { run } from '../src/run.ts'
import type { Io } from '../src/terminal/io.ts'

const dataFolder =
  process.env.RECALL_TEST_DATA ?? fileURLToPath(new URL('../../../../shared/data', import.meta.url))

/** Real transcripts are test data that is never part of the project. */
export const transcriptsFolder = join(dataFolder, 'transcripts')

/** Whether there are real transcripts; if not, it says that tests on them are skipped. */
export function hasTranscripts(): boolean {
  if (existsSync(transcriptsFolder)) return true
  process.stderr.write(
    `Tests on real transcripts are skipped: none at ${transcriptsFolder}; set RECALL_TEST_DATA.\n`,
  )
  return false
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export const jsonLines = (...values: unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('')

export interface Ran {
  code: number
  out: string
  err: string
}

export interface Shell {
  root: string
  /** What commands left to detached processes. */
  detached: (readonly string[])[]
  /** Milliseconds that commands would have waited, each time. */
  pauses: number[]
  run(...argv: string[]): Promise<Ran>
  withInput(text: string): Shell
  onTerminal(): Shell
  startedBy(command: readonly string[]): Shell
  json<T = Record<string, unknown>>(...argv: string[]): Promise<T>
}

/**
 * An embedding model for the rest of the test, to which all texts mean the same.
 *
 * @returns the variables that name it
 */
export async function serveTinyModel(
  onTexts: (texts: string[]) => void = () => {},
  embedding = [1, 0, 0],
  mostCharacters = Number.POSITIVE_INFINITY,
) {
  const server = createServer(async (request, response) => {
    const { input } = (await json(request)) as { input: string[] }
    onTexts(input)
    if (input.some((text) => text.length > mostCharacters)) response.statusCode = 400
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ data: input.map((_, index) => ({ index, embedding })) }))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    RECALL_EMBEDDING_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    RECALL_EMBEDDING_MODEL: 'tiny',
    RECALL_EMBEDDING_DIMENSIONS: String(embedding.length),
  }
}

/** A command line in a folder of its own, as a person or a script would run it. */
export function createShell(
  root = temporaryFolder(),
  answer: string | null | Error = null,
  env: Record<string, string | undefined> = { RECALL_ROOT: root },
  more: Partial<
    Pick<Shell, 'detached' | 'pauses'> & Pick<Io, 'ownCommand' | 'isTerminal'> & { input: string }
  > = {},
): Shell {
  const { input = '', isTerminal = false, detached = [], pauses = [], ownCommand } = more
  const also = (given: typeof more): Shell =>
    createShell(root, answer, env, { ...more, detached, pauses, ...given })
  const now = Date.parse('2026-03-06T12:00:00Z')
  return {
    root,
    detached,
    pauses,
    async run(...argv: string[]): Promise<Ran> {
      let out = ''
      let err = ''
      const code = await run(argv, {
        out: (text) => {
          out += text
        },
        err: (text) => {
          err += text
        },
        env,
        cwd: root,
        home: root,
        now: () => now,
        pause: async (ms) => void pauses.push(ms),
        isTerminal,
        isErrorTerminal: false,
        columns: 100,
        async ask() {
          if (answer instanceof Error) throw answer
          return answer
        },
        outputDelivered: async () => true,
        readPayload: async () => input,
        readText: async () => input,
        detach: (left) => void detached.push(left),
        ...(ownCommand ? { ownCommand } : {}),
      })
      return { code, out, err }
    },
    /** The same, with something on standard input. */
    withInput: (text: string): Shell => also({ input: text }),
    /** The same, as this command starts it. */
    startedBy: (command: readonly string[]): Shell => also({ ownCommand: command }),
    /** The same, with results shown on a screen. */
    onTerminal: (): Shell => also({ isTerminal: true }),
    /** Runs a command with `--json` and parses what it prints. */
    async json<T = Record<string, unknown>>(...argv: string[]): Promise<T> {
      const { out, err } = await this.run(...argv, '--json')
      if (out === '') throw new Error(`nothing was printed; ${err}`)
      return JSON.parse(out) as T
    },
  }
}

export interface Turn {
  role: 'user' | 'assistant'
  text: string
}

/** Writes a session that the neutral reader understands; returns its path. */
export function writeSession(folder: string, sessionId: string, turns: Turn[], day = '2026-03-05'): string {
  const path = join(folder, `${sessionId}.jsonl`)
  const lines = turns.map(({ role, text }, i) =>
    JSON.stringify({
      id: `${sessionId}-${i}`,
      role,
      content: text,
      timestamp: `${day}T10:${String(i).padStart(2, '0')}:00.000Z`,
    }),
  )
  writeFileSync(path, `${[JSON.stringify({ session_id: sessionId }), ...lines].join('\n')}\n`)
  return path
}

export const poolSession: Turn[] = [
  { role: 'user', text: 'The orders service runs out of database connections after an hour. Why?' },
  { role: 'assistant', text: 'The retry path in src/pool.ts takes a client and never releases it.' },
  { role: 'user', text: "Then let's use a try/finally around the query, and we need to add a leak test." },
  { role: 'assistant', text: 'Done. We decided to release the client in finally; the leak test passes.' },
]

/** A shell with a memory, in which one session was archived. */
export async function shellWithSession() {
  const shell = createShell()
  const transcripts = temporaryFolder()
  const path = writeSession(transcripts, 'pool-leak', poolSession)
  await shell.run('init')
  await shell.run('archive', path)
  return { ...shell, path, transcripts }
}

/** Writes files below a folder, by their paths there. */
export function writeFiles(folder: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

/** Writes entries that have expired a second after `at`, and one that has not, in another namespace. */
export async function writeExpired(root: string, at: number): Promise<void> {
  const namespace = 'Ana Müller'
  const now = at - 100 * 24 * 3600_000
  const memory = await openFileMemory({ root, namespace, clock: () => now })
  const ttl = at - now + 1000
  await memory.write('episodic', 'archived-over', 'x', { ttl })
  await memory.cleanup({ scope: 'episodic', archiveBefore: now + 1 })
  await memory.write('episodic', 'episode-over', 'x', { ttl })
  await memory.write('long-term', 'note-over', 'x', { ttl })
  // Would be archived by age, on request.
  await memory.write('episodic', 'episode', 'x')
  await memory.close()
}

/** The files of `writeExpired` that are to be removed. */
export const expiredIn = (root: string): string[] =>
  filesBelow(root).filter((path) => /-over(?:\.md|\.json\.gz)$/.test(path))

/** What a memory holds; times of files survive a backup to the second only. */
export const memoriesOf = async (shell: Shell): Promise<unknown[]> =>
  (await shell.run('export')).out
    .trim()
    .split('\n')
    .map((line) => {
      const { key, scope, type, tags, value } = JSON.parse(line) as Record<string, unknown>
      return { key, scope, type, tags, value }
    })

/** A person's home with some agents in it; the memory is where it is by default. */
export function createHome(answer: string | null = null) {
  const home = temporaryFolder()
  mkdirSync(join(home, '.claude'))
  mkdirSync(join(home, '.codex'))
  writeFileSync(join(home, '.claude/settings.json'), '{ "model": "opus" } // mine\n')
  return createShell(home, answer, { RECALL_ROOT: undefined })
}

/** Paths of the files in a folder and in the folders below. */
export const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? join(entry.parentPath, entry.name) : [],
  )
