import { MemoryError, MemoryErrorCode } from '@recall/core'
import {
  agents,
  asMemoryErrors,
  type Database,
  type ReembedProgress,
  reembed,
  trustLevels,
} from '@recall/store-postgres'
import { and, eq } from 'drizzle-orm'
import { hashOfKey, newApiKey } from './access/keys.ts'
import { backUpToFile, writeBackup } from './backup/backup.ts'
import { readBackup, restoreFromFile } from './backup/restore.ts'
import { standardStream } from './backup/standard-stream.ts'
import type { HubConfig } from './config/config.ts'
import { createHub } from './create-hub.ts'
import { examine } from './doctor.ts'
import { openDatabase, openDependencies } from './open-dependencies.ts'
import { refuseToReplaceModel } from './pipelines/current-model.ts'
import { invalidRequest } from './problems.ts'
import { nameSchema } from './routes/schemas.ts'

type Print = (text: string) => void

/**
 * Makes an administrator. It needs direct access to the database, so only the operator can make the first one. Somebody
 * who lost a key may create another administrator of the same name: a notice next to the key says that there is one
 * already.
 */
export async function createAdmin(
  config: HubConfig,
  given: string,
  print: Print,
  tell: Print,
): Promise<void> {
  const { data: name, error } = nameSchema.safeParse(given)
  if (name === undefined) throw invalidRequest(error.issues.map((issue) => ({ ...issue, path: ['name'] })))
  const key = newApiKey()
  const admin = { name, apiKeyHash: hashOfKey(key), trustLevel: trustLevels.core }
  await withDatabase(config, {}, async (database) => {
    const same = and(eq(agents.name, name), eq(agents.trustLevel, trustLevels.core))
    const others = await asMemoryErrors(MemoryErrorCode.SEARCH_FAILED, () => database.$count(agents, same))
    await asMemoryErrors(MemoryErrorCode.WRITE_FAILED, () => database.insert(agents).values(admin))
    print(`${key}\n`)
    if (others > 0)
      tell(
        `recall-hub: '${name}' is now the name of ${others + 1} administrators, each with its own key: set those that nobody uses to tier 0\n`,
      )
  })
}

/**
 * Embeds the shared memories again with the configured model. Vectors of private memories belong to the agents: they
 * were sent with the entries, and an agent compares them only with other vectors of its own model.
 */
export async function reembedAll(config: HubConfig, print: Print): Promise<void> {
  const opening = { mustExist: true, unhurried: true }
  const { database, embedder, close } = await openDependencies(config, () => {}, opening)
  try {
    let told = 0
    const onProgress = ({ done, total }: ReembedProgress): void => {
      const percent = Math.floor((100 * done) / total)
      if (percent > told) print(`memories: ${done} of ${total}, ${percent} %\n`)
      told = percent
    }
    const made = await reembed(database, 'memories', embedder, { onProgress })
    print(`memories: ${made} embedded again with ${embedder.model}\n`)
  } finally {
    await close()
  }
}

/** Runs maintenance, for cron: a hub does not run it by itself. */
export async function maintain(config: HubConfig, print: Print): Promise<void> {
  const opening = { mustExist: true, unhurried: true }
  const { close, ...dependencies } = await openDependencies(config, () => {}, opening)
  try {
    await refuseToReplaceModel(dependencies)
    const hub = await createHub(config, dependencies)
    print(`${JSON.stringify(await hub.maintain())}\n`)
  } finally {
    await close()
  }
}

/** @returns whether all checks passed, which also decides the exit code */
export async function doctor(config: HubConfig, print: Print): Promise<boolean> {
  const looking = { lookOnly: true, mustExist: true }
  const { close, ...dependencies } = await openDependencies(config, () => {}, looking)
  try {
    const findings = await examine(config, dependencies)
    for (const { check, ok, message } of findings) print(`${ok ? 'ok  ' : 'FAIL'} ${check}: ${message}\n`)
    return findings.every(({ ok }) => ok)
  } finally {
    await close()
  }
}

/** @param path may be `-`: the backup then goes to the standard output, so `tell` has to write elsewhere */
export async function backupCommand(config: HubConfig, path: string, tell: Print): Promise<void> {
  if (path === standardStream && process.stdout.isTTY) {
    throw new MemoryError('send the backup into a file: backup - > hub.backup', MemoryErrorCode.INVALID_INPUT)
  }
  await withDatabase(config, { mustExist: true }, async (database) => {
    const counts =
      path === standardStream
        ? await writeBackup(database, process.stdout)
        : await backUpToFile(database, path)
    tell(`${JSON.stringify(counts)}\n`)
  })
}

/** @param path may be `-`, for the standard input */
export async function restoreCommand(config: HubConfig, path: string, tell: Print): Promise<void> {
  await withDatabase(config, {}, async (database) => {
    const counts =
      path === standardStream
        ? await readBackup(database, standardInput, 'the standard input')
        : await restoreFromFile(database, path)
    tell(`${JSON.stringify(counts)}\n`)
  })
}

/** Called again when Postgres rolled a restore back; the input that was read is gone by then. */
function standardInput(): typeof process.stdin {
  if (!process.stdin.readableDidRead) return process.stdin
  throw new MemoryError(
    'other writers got in the way, and nothing was restored: run it again',
    MemoryErrorCode.CONFLICT,
  )
}

async function withDatabase(
  config: HubConfig,
  opening: { mustExist?: boolean },
  run: (database: Database) => Promise<void>,
): Promise<void> {
  const { database, close } = await openDatabase(config, opening)
  try {
    await run(database)
  } finally {
    await close()
  }
}
