import { lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Attack } from '../attack.ts'
import { hostileBytes } from '../parsers/hostile-text.ts'
import { parsers, plantedSecrets, saysSecret } from '../parsers/parsers.ts'
import { untilNoneRuns } from '../processes.ts'
import { type Ended, runRecall } from '../recall-process.ts'

/** Longest that a command may take on a busy machine, in milliseconds. */
const longestMs = 20_000

/** Malicious transcripts and hook inputs, given to the command as a host gives them. */
export const sessions: Attack = {
  what: 'hostile transcripts and hook inputs to `recall archive` and `recall hook`: no crash, nothing outside the memory is touched, no planted secret is on the disk',
  size: 40,
  async round({ seed, size, folder }) {
    const [home, cache, work, root] = ['home', 'cache', 'work', 'work/root'].map((name) =>
      join(folder, name),
    ) as [string, string, string, string]
    for (const path of [home, cache, work, root]) mkdirSync(path, { recursive: true })
    writeFileSync(join(work, 'mine.md'), 'mine')
    const violations: string[] = []
    const inputs = fc.sample(session, { seed, numRuns: size })
    for (const [i, { transcript, ending, event, id, given }] of inputs.entries()) {
      const path = join(work, `session-${i}.${ending}`)
      writeFileSync(path, transcript)
      const before = outside(work, root)
      const env = { HOME: home, XDG_CACHE_HOME: cache }
      const ended =
        event === 'archive'
          ? await runRecall(['archive', path, '--root', root], { cwd: work, env })
          : await runRecall(['hook', event, '--root', root], {
              cwd: work,
              env,
              input: hookInput(id, path, work, given),
            })
      await untilNoneRuns(root)
      const what = `session ${i} of seed ${seed}, ${event}`
      violations.push(...complaints(ended, event).map((complaint) => `${what}: ${complaint}`))
      const changed = changes(before, outside(work, root))
      violations.push(...changed.map((name) => `${what}: ${name} was touched`))
    }
    const inHome = readdirSync(home, { recursive: true, encoding: 'utf8' })
    if (inHome.length > 0) violations.push(`${inHome[0]} was made at home`)
    // Only the compiled program, and nothing of the input.
    const kept = readdirSync(cache, { recursive: true, encoding: 'utf8' })
    const foreign = kept.find((name) => !/^recall(?:[/\\]code(?:[/\\].*)?)?$/.test(name))
    if (foreign !== undefined) violations.push(`${foreign} was made in the cache`)
    const bytes = kept
      .filter((name) => lstatSync(join(cache, name)).isFile())
      .map((name) => readFileSync(join(cache, name), 'latin1'))
    if (bytes.some(saysSecret)) violations.push('a planted secret is in the cache')
    const strange = readdirSync(root).filter(
      (name) => !['memory', '.recall-echo.toml', '.gitignore'].includes(name),
    )
    violations.push(...strange.map((name) => `${name} was made in the root`))
    for (const [path, text] of textsBelow(root)) {
      if (saysSecret(text)) violations.push(`a planted secret is in ${path}`)
    }
    return {
      counts: { 'hostile sessions': size, 'planted secrets': size * plantedSecrets.length },
      violations,
    }
  },
}

const planted = plantedSecrets.map((secret) =>
  Buffer.from(`${JSON.stringify({ role: 'user', content: `It is ${secret} now.` })}\n`),
)

const session = fc.record({
  transcript: hostileBytes(parsers.transcripts.samples.map((sample) => Buffer.from(sample))).map((bytes) =>
    Buffer.concat([planted[0] as Buffer, bytes, Buffer.from('\n'), ...planted.slice(1)]),
  ),
  ending: fc.constantFrom('jsonl', 'jsonl', 'json', 'md'),
  event: fc.constantFrom('archive', 'archive', 'session-end', 'pre-compact', 'session-start', 'prompt', 'stop'),
  id: fc.oneof(
    fc.constantFrom('../../escaped', '/etc/escaped', 'a/b', '..', '.', '', 's\u0000', 'x'.repeat(5000), 'CON', '\u202e', '__proto__', 's'),
    fc.string({ unit: 'binary', maxLength: 30 }),
  ),
  given: fc.oneof(
    fc.record({
      prompt: fc.string({ unit: 'binary' }),
      custom_instructions: fc.string(),
      compact_summary: fc.constantFrom(...plantedSecrets.map((secret) => `keep ${secret} in mind`)),
      cwd: fc.constantFrom('/', '..', '\u0000'),
    }, { requiredKeys: [] }),
    fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 4 }),
  ),
}) // biome-ignore format: a table

const hookInput = (id: string, transcript: string, cwd: string, given: object): string =>
  JSON.stringify({ cwd, ...given, session_id: id, transcript_path: transcript })

/** A command may refuse; a hook must never fail its host. */
function complaints({ by, err, tookMs }: Ended, event: string): string[] {
  const allowed = event === 'archive' ? [0, 1, 2, 3] : [0]
  return [
    ...(allowed.includes(by as number) ? [] : [`ended with ${by}: ${err.slice(-300)}`]),
    // A stack trace means an unexpected error.
    ...(/^ {4}at /m.test(err) ? [`fell over: ${err.slice(0, 500)}`] : []),
    ...(saysSecret(err) ? ['says a planted secret'] : []),
    ...(tookMs > longestMs ? [`took ${Math.round(tookMs)} ms`] : []),
  ]
}

/** Every file outside the memory, with what would change if somebody touched it. */
function outside(work: string, root: string): Map<string, string> {
  const names = readdirSync(work, { encoding: 'utf8' }).filter((name) => join(work, name) !== root)
  return new Map(
    names.map((name) => {
      const { size, mtimeMs, ino } = lstatSync(join(work, name))
      return [name, `${size} ${mtimeMs} ${ino}`]
    }),
  )
}

const changes = (before: Map<string, string>, after: Map<string, string>): string[] =>
  [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name))

function* textsBelow(folder: string): Generator<[path: string, text: string]> {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    // Databases too: byte by byte as characters.
    if (entry.isFile()) yield [path, readFileSync(path).toString('latin1')]
  }
}
