import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { conversationKey, createMemoryManager } from '@recall/core'
import { createPostgresStore } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { bundleScript, type Child, startChild } from '../../../packages/store-file/test/child-process.ts'
import { seededRandom } from '../../../packages/store-file/test/random.ts'
import {
  lastStep,
  migrateTo,
  steps,
  textOf,
  writeAt,
} from '../../../packages/store-postgres/test/earlier-schemas.ts'
import { createServerDatabase, serverUrl } from '../../../packages/store-postgres/test/server-database.ts'
import type { Attack } from '../attack.ts'
import { lookAtRoot, lookForNotes } from '../look-at-root.ts'

const fixtures = fileURLToPath(new URL('../../../packages/store-file/test/fixtures', import.meta.url))
const migrationsFolder = fileURLToPath(
  new URL('../../../packages/store-postgres/migrations', import.meta.url),
)
const childOf = (name: string): Promise<string> =>
  bundleScript(fileURLToPath(new URL(`../children/${name}`, import.meta.url)))
/** Besides what a fixture holds: enough that building an index takes a while. */
const notes = 80

/** Processes that are the first to open what an earlier version wrote. */
export const migrations: Attack = {
  what: 'what each earlier schema wrote, in files and in Postgres, is opened by processes that are killed: all of it is there, and whoever comes next finishes the migration',
  size: 20,
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const violations: string[] = []
    const ofPostgres = serverUrl ? size >> 1 : 0
    const script = await childOf('migrate-files-child.ts')
    for (let i = ofPostgres; i < size; i++) {
      const found = await killFileMigration(script, join(folder, `root-${i}`), random)
      violations.push(...found.map((what) => `files, kill ${i}: ${what}`))
    }
    if (ofPostgres > 0) violations.push(...(await killPostgresMigrations(folder, ofPostgres, random)))
    return {
      counts: { kills: size, 'memories looked for': (size - ofPostgres) * (notes + 4) + ofPostgres },
      violations,
    }
  },
}

async function killFileMigration(script: string, root: string, random: () => number): Promise<string[]> {
  const names = readdirSync(fixtures).filter((name) => name.startsWith('index-schema-'))
  const name = names[Math.floor(random() * names.length)] as string
  cpSync(join(fixtures, name), root, { recursive: true })
  const folder = join(root, 'memory/long-term')
  mkdirSync(folder, { recursive: true })
  for (let i = 0; i < notes; i++)
    writeFileSync(join(folder, `old-${i}.md`), `The harbour number${i} is old.\n`)
  // Two of them at the same time, as an editor and a terminal may be.
  const children = ['a', 'b'].slice(0, random() < 0.3 ? 2 : 1).map((each) => startChild(script, [root, each]))
  const ended: unknown[] = []
  await Promise.all(
    children.map(async (child) => {
      await child.message()
      await new Promise((resolve) => setTimeout(resolve, random() * 120))
      ended.push(await kill(child))
    }),
  )
  return [...diedAlone(ended), ...(await lookAtFiles(root))].map((what) => `${name}: ${what}`)
}

function kill(child: Child): Promise<unknown> {
  child.process.kill('SIGKILL')
  return child.ended
}

const diedAlone = (ended: readonly unknown[]): string[] =>
  ended.flatMap((by) => (by === 'SIGKILL' ? [] : [`a process ended by itself, with ${by}`]))

const lookAtFiles = (root: string): Promise<string[]> =>
  lookAtRoot({ root }, async (memory) => {
    const kept: [unknown, unknown][] = [
      [await memory.read('long-term', 'note'), 'The lighthouse stands at the harbour.'],
      [JSON.stringify(await memory.read('long-term', 'list')), '{"ferries":["one","two"],"at":"the ferry"}'],
      [await memory.read('long-term', 'MEMORY.md#tides'), 'The tide turns at noon.'],
      [(await memory.read<{ sessionId: string }>('episodic', conversationKey('s1')))?.sessionId, 's1'],
    ]
    return [
      ...(await lookForNotes(memory, 'old', notes)),
      ...kept.flatMap(([read, wanted]) => (read === wanted ? [] : [`${wanted} reads ${read}`])),
    ]
  })

/** A process that migrates database after database, each of another step, killed in the middle of one. */
async function killPostgresMigrations(
  folder: string,
  kills: number,
  random: () => number,
): Promise<string[]> {
  // The program looks for its migrations beside its own folder.
  const script = join(folder, 'program/child.mjs')
  cpSync(await childOf('migrate-postgres-child.ts'), script)
  symlinkSync(migrationsFolder, join(folder, 'migrations'))
  const old = steps.filter((step) => step < lastStep)
  const violations: string[] = []
  for (let i = 0; i < kills; i++) {
    const step = old[i % old.length] as number
    const { url, drop } = await createServerDatabase()
    const before = await openPostgres({ url, migrations: false, connections: 1 })
    await migrateTo(before.database, step)
    await writeAt(before.database, step)
    await before.close()
    const child = startChild(script, [url])
    await child.message()
    await new Promise((resolve) => setTimeout(resolve, random() * 300))
    const ended = diedAlone([await kill(child)])
    const found = await lookAtPostgres(url, step).catch((error: Error) => [error.message])
    violations.push(...[...ended, ...found].map((what) => `Postgres, step ${step}, kill ${i}: ${what}`))
    await drop()
  }
  return violations
}

async function lookAtPostgres(url: string, step: number): Promise<string[]> {
  const { database, close } = await openPostgres({ url, connections: 2 })
  const memory = createMemoryManager({ stores: createPostgresStore(database) })
  try {
    const read = await memory.read('long-term', `note-${step}`)
    const [found] = await memory.search('long-term', { text: `number${step}` })
    await memory.write('long-term', 'new', 'written now')
    return [
      ...(read === textOf(step) ? [] : [`its memory reads ${JSON.stringify(read)}`]),
      ...(found?.key === `note-${step}` ? [] : ['its memory is not found']),
    ]
  } finally {
    await close()
  }
}
