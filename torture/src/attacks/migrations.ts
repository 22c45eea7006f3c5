import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { conversationKey, createMemoryManager } from '@recall/core'
import { createPostgresStore } from '@recall/store-postgres'
import { openPostgres } from '@recall/store-postgres/postgres'
import { schemaVersion } from '../../../packages/store-file/src/search-index/schema.ts'
import {
  bundleScript,
  type Child,
  startChild,
} from '../../../packages/store-file/test/support/child-process.ts'
import { damage } from '../../../packages/store-file/test/support/damage-file.ts'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import { changeVersion, writeBefore } from '../../../packages/store-file/test/support/written-before.ts'
import { inventSteps, type Steps } from '../../../packages/store-postgres/test/support/later-steps.ts'
import {
  createServerDatabase,
  serverUrl,
} from '../../../packages/store-postgres/test/support/server-database.ts'
import type { Attack } from '../attack.ts'
import { lookAtRoot, lookForNotes } from '../look-at-root.ts'

const childOf = (name: string): Promise<string> =>
  bundleScript(fileURLToPath(new URL(`../children/${name}`, import.meta.url)))
/** Notes besides one of each kind: enough that building an index takes a while. */
const notes = 80

/** Processes that are the first to open what another version wrote. */
export const migrations: Attack = {
  what: 'files with an index of another version or a damaged one, and databases that lack steps are opened by processes that are killed: everything written is there, and the next process finishes the migration',
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

/** Makes an index that has to be rebuilt; returns what is wrong with it. */
const unfit: ((root: string, random: () => number) => Promise<string>)[] = [
  (root) => ofVersion(root, schemaVersion - 1),
  (root) => ofVersion(root, schemaVersion + 1),
  async (root, random) => `an index with ${damage(join(root, 'memory/.recall/index.db'), random)}`,
]

async function ofVersion(root: string, version: number): Promise<string> {
  await changeVersion(root, version)
  return `an index of version ${version}`
}

async function killFileMigration(script: string, root: string, random: () => number): Promise<string[]> {
  mkdirSync(root)
  await writeBefore(root)
  const folder = join(root, 'memory/long-term')
  for (let i = 0; i < notes; i++)
    writeFileSync(join(folder, `old-${i}.md`), `The harbour number${i} is old.\n`)
  const what = await unfit[Math.floor(random() * unfit.length)]?.(root, random)
  // Two of them at the same time, like an editor and a terminal.
  const children = ['a', 'b'].slice(0, random() < 0.3 ? 2 : 1).map((each) => startChild(script, [root, each]))
  const ended: unknown[] = []
  await Promise.all(
    children.map(async (child) => {
      await child.message()
      await new Promise((resolve) => setTimeout(resolve, random() * 120))
      ended.push(await kill(child))
    }),
  )
  return [...diedAlone(ended), ...(await lookAtFiles(root))].map((violation) => `${what}: ${violation}`)
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

/** The starting states of databases whose creation is interrupted: steps that were made, each by a separate process. */
const beginnings = [
  { what: 'an empty database', made: 0 },
  { what: 'a database without tables', made: 1 },
  { what: 'a database of this version', made: 2 },
]
/** Steps that a later version is imagined to add. */
const later = 3

/** Processes of a later version make the missing steps of one database after another, and are killed in the middle. */
async function killPostgresMigrations(
  folder: string,
  kills: number,
  random: () => number,
): Promise<string[]> {
  // The program looks for its migrations next to its own folder.
  const script = join(folder, 'program/child.mjs')
  cpSync(await childOf('migrate-postgres-child.ts'), script)
  const steps = inventSteps(later)
  cpSync(steps.folder, join(folder, 'migrations'), { recursive: true })
  const violations: string[] = []
  for (let i = 0; i < kills; i++) {
    const { what, made } = beginnings[i % beginnings.length] as (typeof beginnings)[number]
    const { url, drop } = await createServerDatabase()
    const isWhole = await begin(url, made)
    const child = startChild(script, [url])
    await child.message()
    await new Promise((resolve) => setTimeout(resolve, random() * 300))
    const ended = diedAlone([await kill(child)])
    const found = await lookAtPostgres(url, steps, isWhole).catch((error: Error) => [error.message])
    violations.push(...[...ended, ...found].map((violation) => `${what}, kill ${i}: ${violation}`))
    await drop()
  }
  steps.remove()
  return violations
}

/** Makes the first steps, and writes a memory if there are tables for it; returns whether it did. */
async function begin(url: string, made: number): Promise<boolean> {
  const { database, close } = await openPostgres({ url, migrations: false, connections: 1 })
  const steps = inventSteps(0, made)
  if (made > 0) await steps.make(database)
  const isWhole = made === beginnings.length - 1
  if (isWhole) await createMemoryManager({ stores: createPostgresStore(database) }).write(...memoryBefore)
  steps.remove()
  await close()
  return isWhole
}

const memoryBefore = ['long-term', 'note', 'The lighthouse stands at the harbour.'] as const

async function lookAtPostgres(url: string, steps: Steps, isWhole: boolean): Promise<string[]> {
  const { database, close } = await openPostgres({ url, migrations: false, connections: 1 })
  try {
    await steps.make(database)
    const memory = createMemoryManager({ stores: createPostgresStore(database) })
    const [scope, key, value] = memoryBefore
    if (!isWhole) await memory.write(scope, key, value)
    const read = await memory.read(scope, key)
    const [found] = await memory.search(scope, { text: 'lighthouse' })
    await memory.write('long-term', 'new', 'written now')
    return [
      ...(read === value ? [] : [`its memory reads ${JSON.stringify(read)}`]),
      ...(found?.key === key ? [] : ['its memory is not found']),
    ]
  } finally {
    await close()
  }
}
