import { Command, CommanderError, Option } from 'commander'
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.ts'
import type { Io } from './io.ts'

/**
 * Runs one command line.
 *
 * @returns the exit code: 0 fine, 1 the answer is no, 2 wrong use, 3 failed
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  let code: number = exitCodes.fine
  const program = createProgram(io, (result) => {
    code = result
  })
  try {
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.wrongUse
    const message = error instanceof Error ? error.message : String(error)
    io.err(`recall: ${message}\n`)
    if (io.env.RECALL_DEBUG && error instanceof Error) io.err(`${error.stack}\n`)
    return exitCodeOf(error)
  }
}

/** Every command in one place; each module is loaded when its command runs. */
export function createProgram(io: Io, done: (code: number) => void): Command {
  const program = new Command('recall')
    .description(
      'Memory for AI agents: sessions archived, summarised and found again, in files you can read.',
    )
    .version(process.env.RECALL_VERSION ?? 'development')
    .exitOverride()
    .configureOutput({ writeOut: io.out, writeErr: io.err })
    .showHelpAfterError("(run 'recall --help' for the commands)")
    .addHelpText(
      'after',
      examples(['recall init', 'recall archive session.jsonl', 'recall search "pool leak"']),
    )

  const command = (usage: string, description: string, samples: string[]): Command =>
    program
      .command(usage)
      .description(description)
      .option('--root <folder>', 'where the memory is (default: RECALL_ROOT, this folder, or ~/.recall)')
      .addOption(new Option('--layout <name>', 'how files are laid out').choices(['entity', 'user']))
      .option('--json', 'print one JSON document instead of text')
      .addHelpText('after', examples(samples))

  /** Commands return their exit code; nothing means 0. */
  const runs =
    <A extends unknown[]>(call: (...args: A) => Promise<number | undefined>) =>
    async (...args: A): Promise<void> => {
      done((await call(...args)) ?? exitCodes.fine)
    }

  command('init [root]', 'create a memory', [
    'recall init',
    'recall init ~/agents/ada',
    'recall init ~/.claude --layout user',
  ]).action(runs(async (root, options) => (await import('./commands/init.ts')).init(io, root, options)))

  command('status [root]', 'how the memory is doing', ['recall status', 'recall status --json']).action(
    runs(async (root, options) => (await import('./commands/status.ts')).status(io, root, options)),
  )

  command('archive <transcript...>', 'archive sessions that have ended: files, or folders of them', [
    'recall archive ~/.claude/projects/my-app/4d56.jsonl',
    'recall archive notes/talk.md',
  ]).action(
    runs(async (paths, options) =>
      (await import('./commands/archive.ts')).archive(io, paths, options, 'session'),
    ),
  )

  command('checkpoint <transcript...>', 'archive a session that goes on; it does not enter the window', [
    'recall checkpoint session.jsonl',
  ]).action(
    runs(async (paths, options) =>
      (await import('./commands/archive.ts')).archive(io, paths, options, 'checkpoint'),
    ),
  )

  command('import <source...>', 'archive many sessions; what is already there is passed over', [
    'recall import ~/.claude/projects',
    'recall import talks/ --dry-run',
  ])
    .option('--dry-run', 'say what would be archived')
    .option('--since <date>', 'only files changed since this day, for example 2026-03-01')
    .action(
      runs(async (paths, options) =>
        (await import('./commands/import.ts')).importSessions(io, paths, options),
      ),
    )

  command('search <query...>', 'find what was said or learned', [
    'recall search pool leak',
    'recall search --ranked "jwt refresh"',
    'recall search retry -C 3 --scope episodic',
  ])
    .option(
      '--ranked',
      'best match first, one result a file, instead of line by line in the order of the files',
    )
    .option('-C, --context <lines>', 'lines to show around each match', wholeNumber, 0)
    .addOption(
      new Option('--scope <name>', 'search one scope only').choices([
        'working',
        'short-term',
        'long-term',
        'episodic',
      ]),
    )
    .option('--limit <n>', 'most results', wholeNumber, 10)
    .option('--explain', "show each signal's share of the score")
    .action(
      runs(async (words, options) =>
        (await import('./commands/search.ts')).search(io, words.join(' '), options),
      ),
    )

  command('distill [root]', 'find what makes MEMORY.md too long, and move it to topic files', [
    'recall distill',
    'recall distill --apply',
  ])
    .option('--apply', 'make the changes that were shown')
    .action(runs(async (root, options) => (await import('./commands/distill.ts')).distill(io, root, options)))

  command('consume [root]', 'print the rolling window of recent sessions', [
    'recall consume',
    'recall consume --clear',
  ])
    .option('--clear', 'empty the window once it was printed')
    .action(runs(async (root, options) => (await import('./commands/consume.ts')).consume(io, root, options)))

  command('doctor', 'examine the memory', ['recall doctor', 'recall doctor --deep', 'recall doctor --fix'])
    .option('--deep', 'also read every file and check the index page by page')
    .option('--fix', 'mend what can be mended without losing anything')
    .action(runs(async (options) => (await import('./commands/doctor.ts')).doctor(io, options)))

  command('reindex', 'bring the search index up to date', ['recall reindex', 'recall reindex --full'])
    .option('--full', 'build it anew from the files')
    .action(runs(async (options) => (await import('./commands/reindex.ts')).reindex(io, options)))

  command('config [name] [value]', 'show or change settings', [
    'recall config',
    'recall config ephemeral.max_entries 8',
  ]).action(
    runs(async (name, value, options) =>
      (await import('./commands/config.ts')).config(io, name, value, options),
    ),
  )

  command('export', 'print every memory as JSON lines', [
    'recall export > memory.jsonl',
    'recall export --scope long-term',
  ])
    .addOption(
      new Option('--scope <name>', 'one scope only').choices([
        'working',
        'short-term',
        'long-term',
        'episodic',
      ]),
    )
    .action(runs(async (options) => (await import('./commands/export.ts')).exportMemory(io, options)))

  command('backup <file>', 'save the memory to one compressed file', ['recall backup memory.tar.gz']).action(
    runs(async (file, options) => (await import('./commands/backup.ts')).backup(io, file, options)),
  )

  command('restore <file>', 'put a saved memory back, into a root without one', [
    'recall restore memory.tar.gz --root ~/restored',
  ]).action(runs(async (file, options) => (await import('./commands/backup.ts')).restore(io, file, options)))

  command('forget [key...]', 'remove memories for good; shows what would go unless --yes is given', [
    'recall forget conversation:4d56',
    'recall forget --containing "old address" --yes',
  ])
    .option('--containing <text>', 'every memory that contains this text')
    .addOption(
      new Option('--scope <name>', 'one scope only').choices([
        'working',
        'short-term',
        'long-term',
        'episodic',
      ]),
    )
    .option('--yes', 'remove them')
    .action(runs(async (keys, options) => (await import('./commands/forget.ts')).forget(io, keys, options)))

  command('scrub', 'look for secrets in what is stored; shows them unless --yes is given', [
    'recall scrub',
    'recall scrub --yes',
  ])
    .option('--yes', 'replace them')
    .action(runs(async (options) => (await import('./commands/scrub.ts')).scrub(io, options)))

  program
    .command('completion <shell>')
    .description('print a completion script for bash, zsh or fish')
    .addHelpText('after', examples(['recall completion bash >> ~/.bashrc']))
    .action(
      runs(async (shell: string) =>
        (await import('./commands/completion.ts')).completion(io, shell, program),
      ),
    )

  program
    .command('demo')
    .description('watch the main job on a sample session, in a temporary folder')
    .action(runs(async () => (await import('./commands/demo.ts')).demo(io, run)))

  return program
}

const examples = (lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`

function wholeNumber(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new UsageError(`'${text}' is not a whole number`)
}
