import { type Command, commands } from './commands.ts'
import { didYouMean } from './did-you-mean.ts'
import { errorDocument, exitCodeOf, exitCodes, UsageError } from './exit-codes.ts'
import { parseCommandLine } from './parse-command-line.ts'
import { commandHelp, programHelp } from './terminal/help.ts'
import type { Io } from './terminal/io.ts'
import { printable } from './terminal/printable.ts'
import { watchOutput } from './terminal/watch-output.ts'

const description =
  'Memory for AI agents: sessions archived, summarised and found again, in files you can read.'
const examples = ['recall init', 'recall archive session.jsonl', 'recall search "pool leak"']

/** Whether one of some options was given; arguments after `--` do not count. */
function asksFor(argv: readonly string[], ...options: string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? argv.length : end).some((each) => options.includes(each))
}

const commonOption = /^--(?:json$|(?:root|layout)(?:=|$))/

/** Moves common options that precede the command right after it: later options take precedence. */
function commandFirst(argv: readonly string[]): readonly string[] {
  let at = 0
  while (commonOption.test(argv[at] ?? '')) at += argv[at] === '--root' || argv[at] === '--layout' ? 2 : 1
  const [name, ...rest] = argv.slice(at)
  return name === undefined ? argv : [name, ...argv.slice(0, at), ...rest]
}

/**
 * Runs one command line.
 *
 * @returns the exit code: 0 fine, 1 the answer is no, 2 wrong use, 3 failed
 */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  const [name = '', ...rest] = commandFirst(argv)
  if (name === '-V' || name === '--version') {
    io.out(`${process.env.RECALL_VERSION ?? 'development'}\n`)
    return exitCodes.fine
  }
  const wanted = name === 'help' ? (rest[0] ?? '') : name
  const command = commands.find(({ name, alias }) => name === wanted || alias === wanted)
  const help = helpFor(io, name, rest, command)
  if (help !== undefined) {
    io.out(help)
    return name === '' ? exitCodes.wrongUse : exitCodes.fine
  }
  if (!command) {
    return fail(io, new UsageError(`${noCommand(wanted)} (see 'recall --help')`), asksFor(argv, '--json'))
  }
  const { watched, isAnswered } = watchOutput(io)
  try {
    return (await command.run(watched, parseCommandLine(command, rest), run)) ?? exitCodes.fine
  } catch (error) {
    const isJson = command.options.json !== undefined && asksFor(rest, '--json')
    const code = fail(io, error, isJson && !isAnswered())
    return command.failsOpen ? exitCodes.fine : code
  }
}

function noCommand(word: string): string {
  if (word.startsWith('-')) return `'${word}' is for a command`
  const known = commands.map(({ name }) => name)
  return `there is no command '${word}'${didYouMean(word, known)}`
}

/** The help that a command line asks for; the program's help if the line is empty. */
function helpFor(
  io: Io,
  name: string,
  rest: readonly string[],
  command: Command | undefined,
): string | undefined {
  if (command) return name === 'help' || asksFor(rest, '--help', '-h') ? commandHelp(command, io) : undefined
  const isAsked = ['', '-h', '--help'].includes(name) || (name === 'help' && !rest[0])
  return isAsked ? programHelp(commands, description, examples, io) : undefined
}

/** Reports an error to people, and in JSON to a caller that asked for JSON. @returns the exit code */
function fail(io: Io, error: unknown, isJson: boolean): number {
  const document = errorDocument(error)
  io.err(`recall: ${printable(document.message)}\n`)
  if (io.env.RECALL_DEBUG && error instanceof Error) io.err(`${error.stack}\n`)
  if (isJson) io.out(`${JSON.stringify({ error: document })}\n`)
  return exitCodeOf(error)
}
