import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createMemoryManager } from '@recall/core'
import { sql } from 'drizzle-orm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Database, rowsOf } from '../src/engines/database.ts'
import { migrate, pendingMigrations } from '../src/migrate.ts'
import { type OpenDatabase, openPostgres } from '../src/postgres.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { inventSteps, type Steps } from './support/later-steps.ts'
import { createServerDatabase, serverUrl } from './support/server-database.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

it('the committed migrations lead to the schema as it stands', async () => {
  // The tool takes a folder below its own only.
  const copy = mkdtempSync(join(root, 'node_modules', '.migrations-'))
  try {
    cpSync(join(root, 'migrations'), copy, { recursive: true })
    const out = `./${copy.slice(root.length)}`
    const kit = join(root, 'node_modules/drizzle-kit/bin.cjs')
    const options = ['--dialect', 'postgresql', '--schema', './src/schema/*.ts', '--out', out]
    const { stdout } = await promisify(execFile)(process.execPath, [kit, 'generate', ...options], {
      cwd: root,
    })
    expect(stdout).toContain('No schema changes')
    expect(readdirSync(copy).sort()).toEqual(readdirSync(join(root, 'migrations')).sort())
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
})

/** How many steps later versions are imagined to add. */
const later = 3

function stepsOfLaterVersion(): Steps {
  const steps = inventSteps(later)
  onTestFinished(steps.remove)
  return steps
}

async function emptyDatabase(): Promise<{ database: Database; connect(): Promise<OpenDatabase> }> {
  const { url, drop } = await createServerDatabase()
  const opened: OpenDatabase[] = []
  const connect = async () => {
    const open = await openPostgres({ url, migrations: false, connections: 1 })
    opened.push(open)
    return open
  }
  onTestFinished(async () => {
    for (const { close } of opened) await close()
    await drop()
  })
  return { database: (await connect()).database, connect }
}

const memoryIn = (database: Database) => createMemoryManager({ stores: createPostgresStore(database) })

/** A database of this version that holds a note. */
async function databaseWithNote(): Promise<Awaited<ReturnType<typeof emptyDatabase>>> {
  const made = await emptyDatabase()
  await migrate(made.database)
  await memoryIn(made.database).write('long-term', 'note', 'The lighthouse stands at the harbour.')
  return made
}

/** That the note is found, and that every step was made, once. */
async function expectWhole(database: Database): Promise<void> {
  const found = await memoryIn(database).search('long-term', { text: 'lighthouse' })
  expect(found).toMatchObject([{ key: 'note' }])
  const added = await rowsOf(
    database,
    sql`select from information_schema.columns where table_name = 'entries' and column_name like 'later%'`,
  )
  expect(added).toHaveLength(later)
  const made = await rowsOf(database, sql`select from drizzle.__drizzle_migrations`)
  expect(made).toHaveLength(later + 2)
}

/** Until somebody waits for a lock of this database. */
const waiting = sql`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
async function untilSomebodyWaits(database: Database): Promise<void> {
  while ((await rowsOf(database, waiting)).length === 0);
}

// server-database.ts says when there is no server.
describe.skipIf(!serverUrl)('the steps of a later version', () => {
  it('are made once by processes that start together, and keep what was written', async () => {
    const { database, connect } = await databaseWithNote()
    const steps = stepsOfLaterVersion()
    const together = await Promise.all(Array.from({ length: 4 }, connect))
    await Promise.all(together.map((each) => steps.make(each.database)))
    await expectWhole(database)
  })

  it('are all undone when one breaks off, and the next process makes them', async () => {
    const { database, connect } = await databaseWithNote()
    const [blocker, migrator] = [await connect(), await connect()]
    await blocker.database.execute(sql`begin`)
    await blocker.database.execute(sql`lock table entries in access share mode`)
    const migrating = stepsOfLaterVersion()
      .make(migrator.database)
      .catch((error: unknown) => error)
    await untilSomebodyWaits(database)
    await database.execute(sql`select pg_cancel_backend(pid) from (${waiting}) as waiting`)
    expect(await migrating).toMatchObject({ code: expect.stringMatching(/^MEMORY_/) })
    expect(await rowsOf(database, sql`select from drizzle.__drizzle_migrations`)).toHaveLength(2)
    await blocker.database.execute(sql`rollback`)
    await stepsOfLaterVersion().make(migrator.database)
    await expectWhole(database)
  })

  it('let others read while they wait for a table that somebody reads for long', async () => {
    const { database, connect } = await databaseWithNote()
    const [reader, migrator] = [await connect(), await connect()]
    let migrating: Promise<void> | undefined
    await reader.database.transaction(async (backup) => {
      await backup.execute(sql`select from entries`)
      migrating = stepsOfLaterVersion().make(migrator.database)
      await untilSomebodyWaits(database)
      expect(await rowsOf(database, sql`select from entries`)).toHaveLength(1)
    })
    await migrating
    await expectWhole(database)
  })

  it('are no business of this version, which leaves the tables as they are', async () => {
    const { database } = await databaseWithNote()
    await stepsOfLaterVersion().make(database)
    expect(await pendingMigrations(database)).toBe(0)
    await migrate(database)
    await expectWhole(database)
  })
})

describe.skipIf(!serverUrl)('the first steps', () => {
  it('are all undone when one breaks off, and the next process makes them', async () => {
    const { database, connect } = await emptyDatabase()
    const first = inventSteps(0, 1)
    onTestFinished(first.remove)
    await first.make(database)
    expect(await pendingMigrations(database)).toBe(1)
    const [blocker, migrator] = [await connect(), await connect()]
    await blocker.database.execute(sql`begin`)
    await blocker.database.execute(sql`lock table drizzle.__drizzle_migrations in share mode`)
    const migrating = migrate(migrator.database).catch((error: unknown) => error)
    // The tables are made, and its record of that waits.
    await untilSomebodyWaits(database)
    await database.execute(sql`select pg_cancel_backend(pid) from (${waiting}) as waiting`)
    expect(await migrating).toMatchObject({ code: expect.stringMatching(/^MEMORY_/) })
    expect(await rowsOf(database, sql`select from pg_tables where schemaname = 'public'`)).toEqual([])
    await blocker.database.execute(sql`rollback`)
    await migrate(migrator.database)
    expect(await pendingMigrations(database)).toBe(0)
    await memoryIn(database).write('long-term', 'note', 'The harbour is open.')
    expect(await memoryIn(database).read('long-term', 'note')).toBe('The harbour is open.')
  })
})
