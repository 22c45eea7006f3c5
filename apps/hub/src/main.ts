#!/usr/bin/env node
import { isMemoryError } from '@recall/core'
import { backUp, createAdmin, doctor, maintain, reembedAll, restoreFrom } from './commands.ts'
import { configFrom } from './config/environment.ts'
import { serveHub } from './serve.ts'

const print = (text: string): void => void process.stdout.write(text)
const log = (line: Record<string, unknown>): void =>
  void process.stderr.write(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`)

const usage = `recall-hub                      serve; settings come from RECALL_HUB_* and the file RECALL_HUB_CONFIG
recall-hub admin create <name>  make an administrator and print its key
recall-hub maintenance          for cron: promote, recompute quality, check the heartbeat, forget old answers
recall-hub doctor               whether database, vectors, embedding, writes and administrators are in order
recall-hub backup <file>        everything into one file, while the hub goes on
recall-hub restore <file>       out of it again, into an empty database
recall-hub reembed              move all memories to the embedding model that is configured
`

/**
 * postgres 3.4 writes to a connection that has just been lost, from a timer, where no caller can catch the error. The
 * query itself fails as it should. Any other uncaught error ends the process.
 */
function surviveLostConnections(): void {
  process.on('uncaughtException', (error) => {
    const isLost = error instanceof TypeError && /\bnextWrite\b.*postgres/.test(error.stack ?? '')
    log({ level: isLost ? 'warn' : 'error', event: isLost ? 'connection lost' : 'ended', name: error.name })
    if (!isLost) process.exit(1)
  })
}

async function serve(): Promise<void> {
  surviveLostConnections()
  const config = configFrom(process.env)
  // A new embedded database takes a while, on a busy machine half a minute.
  log({ level: 'info', event: 'opening the database', embedded: config.postgresUrl === undefined })
  const hub = await serveHub(config, log)
  print(`Recall hub on ${hub.url}: ${hub.url}/skill.md says how agents use it\n`)
  const stop = (): void => {
    hub.close().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  }
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
}

async function run(words: readonly string[]): Promise<void> {
  const [first, second, name] = words
  if (first === undefined || first === 'serve') return serve()
  if (first === 'admin' && second === 'create' && name)
    return createAdmin(configFrom(process.env), name, print)
  if (first === 'maintenance') return maintain(configFrom(process.env), print)
  if (first === 'doctor') {
    if (!(await doctor(configFrom(process.env), print))) process.exitCode = 1
    return
  }
  if (first === 'backup' && second) return backUp(configFrom(process.env), second, print)
  if (first === 'restore' && second) return restoreFrom(configFrom(process.env), second, print)
  if (first === 'reembed') return reembedAll(configFrom(process.env), print)
  if (first === 'help' || first === '--help') return print(usage)
  process.stderr.write(usage)
  process.exitCode = 2
}

/** What may be shown of an error. The messages of database drivers hold statements with what people wrote. */
function shown(error: unknown): string {
  const { name, message, stack = '', syscall } = error as NodeJS.ErrnoException
  if (isMemoryError(error) || syscall !== undefined) return message
  return name + stack.slice(stack.lastIndexOf(message) + message.length)
}

run(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`${shown(error)}\n`)
  process.exitCode = 3
})
