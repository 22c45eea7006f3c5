#!/usr/bin/env node
import { standardStream } from './backup/standard-stream.ts'
import type { HubConfig } from './config/config.ts'

const print = (text: string): void => void process.stdout.write(text)
const printBeside = (text: string): void => void process.stderr.write(text)
const log = (line: Record<string, unknown>): void =>
  void process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)

const usage = `recall-hub                      serve; settings come from RECALL_HUB_* and the file RECALL_HUB_CONFIG
recall-hub admin create <name>  make an administrator and print its key
recall-hub maintenance          for cron: promote, recompute quality, check the heartbeat, forget old answers
recall-hub doctor               check database, vectors, embedding, writes and administrators; exit code 1 if one fails
recall-hub backup <file>        write everything to one new file, or standard output (-), while a hub on a server runs
recall-hub restore <file>       read it back, or standard input (-), into an empty database
recall-hub reembed              move shared memories to the configured embedding model
recall-hub --version            the installed version

An embedded database is open in one process at a time: stop its hub for the other commands.
`

/**
 * postgres 3.4 writes to a connection that has just been lost, from a timer, where no caller can catch the error. The
 * query itself fails as it should. Any other uncaught error ends the process.
 */
const isLostConnection = (error: Error): boolean =>
  error instanceof TypeError && /\bnextWrite\b.*postgres/.test(error.stack ?? '')

/** The parts of a hub are loaded on demand: help and errors in the arguments need none of them. */
async function readConfig(): Promise<HubConfig> {
  const { configFrom } = await import('./config/environment.ts')
  return configFrom(process.env)
}

async function serve(): Promise<void> {
  const { loggedError } = await import('./log.ts')
  process.on('uncaughtException', (error) => {
    const isLost = isLostConnection(error)
    const event = isLost ? 'connection lost' : 'ended'
    log({ level: isLost ? 'warn' : 'error', event, ...loggedError(error) })
    if (!isLost) process.exit(1)
  })
  const config = await readConfig()
  // A new embedded database takes a while, on a busy machine half a minute.
  log({ level: 'info', event: 'opening the database', embedded: config.postgresUrl === undefined })
  const { serveHub } = await import('./serve.ts')
  const hub = await serveHub(config, log)
  print(`Recall hub on ${hub.url}: ${hub.home}/skill.md says how agents use it\n`)
  let isStopping = false
  // Ctrl-C arrives twice when npm passes it on: the second one must not interrupt what the first one waits for.
  const stop = (): void => {
    if (isStopping) return
    isStopping = true
    hub.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log({ level: 'error', event: 'closing failed', ...loggedError(error) })
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

interface Command {
  /** The argument after its name, if it takes one. */
  takes?: 'name' | 'file'
  run(argument: string): Promise<void>
}

/** A command that ends by itself. */
const withParts =
  (run: (config: HubConfig, parts: typeof import('./commands.ts'), argument: string) => Promise<void>) =>
  async (argument: string): Promise<void> => {
    process.on('uncaughtException', (error) => {
      if (!isLostConnection(error)) void fail(error).then(() => process.exit())
    })
    return run(await readConfig(), await import('./commands.ts'), argument)
  }

const commands: Record<string, Command> = {
  serve: { run: serve },
  'admin create': {
    takes: 'name',
    run: withParts((config, { createAdmin }, name) => createAdmin(config, name, print, printBeside)),
  },
  maintenance: { run: withParts((config, { maintain }) => maintain(config, print)) },
  doctor: {
    run: withParts(async (config, { doctor }) => {
      if (!(await doctor(config, print))) process.exitCode = 1
    }),
  },
  backup: {
    takes: 'file',
    run: withParts((config, { backupCommand }, file) =>
      backupCommand(config, file, file === standardStream ? printBeside : print),
    ),
  },
  restore: {
    takes: 'file',
    run: withParts((config, { restoreCommand }, file) => restoreCommand(config, file, print)),
  },
  reembed: { run: withParts((config, { reembedAll }) => reembedAll(config, print)) },
}

/**
 * There are no options but `--help` and `--version`: an argument that looks like one names neither an agent nor a file.
 */
async function run(words: readonly string[]): Promise<void> {
  const [first = 'serve'] = words
  if (first === 'help' || words.includes('--help') || words.includes('-h')) return print(usage)
  if (first === '--version' || first === '-V')
    return print(`${process.env.RECALL_VERSION ?? 'development'}\n`)
  const name = first === 'admin' ? words.slice(0, 2).join(' ') : first
  const rest = words.slice(first === 'admin' ? 2 : 1)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command && rest.length === (command.takes ? 1 : 0) && rest.every((word) => isFor(command, word))) {
    return command.run(rest[0] ?? '')
  }
  const reason =
    command?.takes && rest.length === 0
      ? `'${name}' needs a ${command.takes}, see below`
      : name === 'admin'
        ? "'admin' needs 'create' and a name, see below"
        : `'${words.join(' ')}' is not a command; settings are variables, such as RECALL_HUB_PORT=8080`
  process.stderr.write(`recall-hub: ${reason}\n\n${usage}`)
  process.exitCode = 2
}

const isFor = ({ takes }: Command, word: string): boolean =>
  /^[^-]/.test(word) || (takes === 'file' && word === standardStream)

/** What may be shown of an error. The messages of database drivers hold statements with what people wrote. */
async function shown(error: unknown): Promise<string> {
  const { isMemoryError } = await import('@recall/core')
  const { name, message, stack = '', syscall } = error as NodeJS.ErrnoException
  if (isMemoryError(error) || syscall !== undefined) return message
  return name + stack.slice(stack.lastIndexOf(message) + message.length)
}

async function fail(error: unknown): Promise<void> {
  process.exitCode = 3
  process.stderr.write(`recall-hub: ${await shown(error)}\n`)
}

/**
 * The output may not be readable: its reader has left, or the disk is full. The work continues, and this is reported at
 * the end.
 */
process.stdout.once('error', ({ code }: NodeJS.ErrnoException) => {
  process.stdout.on('error', () => {})
  printBeside(
    `recall-hub: the standard output cannot be written (${code}), so some output is lost; if you did not get an administrator's key, create another administrator\n`,
  )
  process.exitCode = 3
})
// Then nobody can be told, and a serving hub continues.
process.stderr.on('error', () => {})

run(process.argv.slice(2)).catch(fail)
