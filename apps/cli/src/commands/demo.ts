import { appendFileSync, copyFileSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { exitCodes } from '../exit-codes.ts'
import { hubCommand, startHub } from '../start-hub.ts'
import { paint } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'

/** The sample lies next to both `src` and `dist`, so this path works from either. */
const sample = fileURLToPath(new URL('../../demo/session.jsonl', import.meta.url))
/** The command that a person types. In the repository nothing is installed. */
const recall = import.meta.url.endsWith('.ts') ? 'npx pnpm@10.34.9 -s recall' : 'recall'

const handWritten = `
## Staging

- The on-call person this week is Jonas; the rota is in the wiki under "Duty".
- Never deploy to staging on a Friday after 15:00.
`

/**
 * Demonstrates the main job on a sample session, in a temporary folder.
 *
 * @param run runs a command line; the demo does nothing that a person could not do
 * @param withHub whether to show two agents sharing a memory on a hub as well
 */
export async function demo(
  io: Io,
  run: (argv: readonly string[], io: Io) => Promise<number>,
  withHub = false,
): Promise<number> {
  const started = performance.now()
  const colour = paint(io)
  const command = withHub ? hubCommand(io) : undefined
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'recall-demo-')))
  copyFileSync(sample, join(root, 'session.jsonl'))
  // The hub starts while the first act runs.
  const hub = command && startHub(command, io, join(root, 'hub'))

  const say = (text: string): void => io.out(`\n${colour.bold(text)}\n`)
  let isFine = true
  const env = { ...io.env, RECALL_ROOT: undefined, RECALL_API_URL: undefined, RECALL_API_KEY: undefined }
  const show = async (...argv: string[]): Promise<string> => {
    io.out(`${colour.cyan(`$ recall ${argv.map(quote).join(' ')}`)}\n`)
    let printed = ''
    const out = (text: string): void => {
      printed += text
      io.out(text)
    }
    // If the demonstration were wired into the agents of this machine, it would be their memory from then on.
    const code = await run(argv, { ...io, out, ask: async () => null, cwd: root, env })
    isFine &&= code === exitCodes.fine
    return printed
  }

  say('A developer and an agent chased a leak for 47 minutes. The session becomes memory.')
  await show('init', '.', '--layout', 'entity')
  await show('archive', 'session.jsonl')

  say('How the memory is doing, and what the next session would be told.')
  await show('status')
  await show('consume')

  say('Any turn can be found again: by its words, by rank with reasons, or in one scope with its context.')
  await show('search', 'idle in transaction', '--limit', '3')
  await show('search', 'how to tell a leak from load', '--ranked', '--explain', '--limit', '1')
  await show('search', 'time to failure', '--scope', 'episodic', '-C', '1', '--limit', '1')

  say('The files are the memory. Write in them as you like, the next search knows.')
  io.out(`${colour.cyan("$ cat >> memory/MEMORY.md <<'END'")}${handWritten}${colour.cyan('END')}\n`)
  appendFileSync(join(root, 'memory', 'MEMORY.md'), handWritten)
  await show('search', 'duty rota', '--limit', '1')

  if (hub) {
    try {
      await shareOnHub(await hub.url, say, show)
    } finally {
      await hub.stop()
      rmSync(join(root, 'hub'), { recursive: true, force: true })
    }
  }

  say(
    `That took ${((performance.now() - started) / 1000).toFixed(1)} s. The memory stays until you delete it:`,
  )
  io.out(
    [
      `  ${root}`,
      '',
      `  ${recall} search "pool size" --root ${quote(root)}`,
      `  ${recall} import ~/.claude/projects     your own sessions, into ~/.recall`,
      `  ${recall} --help`,
      '',
    ].join('\n'),
  )
  return isFine ? exitCodes.fine : exitCodes.failed
}

/** The second act: two agents that do not know each other share what one of them learned. */
async function shareOnHub(
  url: string,
  say: (text: string) => void,
  show: (...argv: string[]) => Promise<string>,
): Promise<void> {
  const [learner, solver] = [
    ['--key-file', 'learner.json'],
    ['--key-file', 'solver.json'],
  ] as const
  say('Agents that never met share what they learned: a hub, here with an embedded database.')
  await show('hub', 'register', 'learner', '--url', url, ...learner)
  const lesson =
    'Redis rate limiting failed under load: two workers read the same counter before either had written it, and both let the request through. A token bucket in one Lua script, which Redis runs as a whole, fixed it.'
  const about = ['--tags', 'redis,rate-limit', '--source', 'https://example.com/incidents/42']
  await show('hub', 'save', lesson, ...about, ...learner)

  say('Somewhere else another agent meets the problem, finds the answer, and says whose it is.')
  await show('hub', 'register', 'solver', '--url', url, ...solver)
  const found = await show(
    'hub',
    'search',
    'redis rate limiting fails under load: two workers, one counter',
    '--limit',
    '1',
    ...solver,
  )
  await show('hub', 'cite', /RCL-\w{8}/.exec(found)?.[0] ?? 'RCL-00000000', ...solver)
}

const quote = (argument: string): string => (/^[\w./:-]+$/.test(argument) ? argument : `"${argument}"`)
