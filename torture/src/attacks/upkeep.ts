import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType } from '@recall/core'
import { layouts, openFileMemory } from '@recall/store-file'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import { archiveOf, openSealed, sealedText } from '../../../packages/store-file/test/support/storm-values.ts'
import type { Attack } from '../attack.ts'
import { startEmbeddingServer } from '../embedding-server.ts'
import { lookAtRoot, lookForNotes } from '../look-at-root.ts'
import { type Ended, startRecall } from '../recall-process.ts'

const notes = 120
const sessionsAtOnce = 6
const layoutNames = ['entity', 'user'] as const

/** The commands that rewrite much at once; each kill hits one of them. */
export const upkeep: Attack = {
  what: 'reindex, reindex --model, backup, restore and import are killed: all memories are there, a restore is whole or not at all',
  size: 20,
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const layout = layoutNames[seed % 2] as (typeof layoutNames)[number]
    const root = join(folder, 'root')
    await fill(root, layout)
    const service = await startEmbeddingServer()
    const place: Place = { folder, root, layout, env: service.env, random, took: new Map(), imported: 0 }
    const violations: string[] = []
    let kills = 0
    try {
      for (let i = 0; i < size; i++) {
        const [name, attack] = commands[Math.floor(random() * commands.length)] as (typeof commands)[number]
        const found = await attack(place)
        kills += found.kills
        violations.push(...found.violations.map((violation) => `kill ${i + 1}, ${name}: ${violation}`))
        violations.push(
          ...(await lookAt(place)).map((violation) => `after kill ${i + 1}, ${name}: ${violation}`),
        )
      }
    } finally {
      await service.close()
    }
    return {
      counts: { kills, 'sessions imported': place.imported, 'memories looked for': notes },
      violations,
    }
  },
}

interface Place {
  folder: string
  root: string
  layout: (typeof layoutNames)[number]
  env: Record<string, string>
  random: () => number
  /** How long each command takes without a kill, in milliseconds. */
  took: Map<string, number>
  imported: number
}

interface Outcome {
  kills: number
  violations: string[]
}

/** Runs a command and kills it at a random moment; it may finish before. */
async function killed(place: Place, name: string, argv: readonly string[]): Promise<Ended> {
  const started = await startRecall(argv, { cwd: place.folder, env: place.env })
  // Loading the program takes time, and nothing is changed during it.
  const usual = place.took.get(name) ?? 400
  const timer = setTimeout(started.kill, usual * (0.25 + 0.85 * place.random()))
  const ended = await started.ended
  clearTimeout(timer)
  if (ended.by === 0) place.took.set(name, ended.tookMs)
  return ended
}

async function completes(place: Place, argv: readonly string[]): Promise<string[]> {
  const { by, err } = await (await startRecall(argv, { cwd: place.folder, env: place.env })).ended
  return by === 0 ? [] : [`${argv.join(' ')} ended with ${by}: ${err.slice(-300)}`]
}

const outcomeOf = ({ by, err }: Ended, violations: string[]): Outcome => ({
  kills: by === 'SIGKILL' ? 1 : 0,
  violations:
    by === 'SIGKILL' || by === 0 ? violations : [...violations, `ended with ${by}: ${err.slice(-300)}`],
})

const commands: [name: string, attack: (place: Place) => Promise<Outcome>][] = [
  ['reindex --full', async (place) => outcomeOf(await killed(place, 'full', ['reindex', '--full', '--root', place.root]), [])],
  [
    'reindex --model',
    async (place) => {
      // Half of the time there are no vectors yet.
      const vectors = join(place.root, layouts[place.layout].internal, 'vectors.i8')
      if (place.random() < 0.5) rmSync(vectors, { force: true })
      const ended = await killed(place, 'model', ['reindex', '--model', '--root', place.root])
      return outcomeOf(ended, await completes(place, ['reindex', '--model', '--root', place.root]))
    },
  ],
  ['backup', attackBackup],
  ['restore', attackRestore],
  ['import', attackImport],
] // biome-ignore format: one row for each

async function attackBackup(place: Place): Promise<Outcome> {
  const file = join(place.folder, 'killed.tar.gz')
  rmSync(file, { force: true })
  const ended = await killed(place, 'backup', ['backup', file, '--root', place.root])
  const target = join(place.folder, 'from-backup')
  const violations = existsSync(file)
    ? [...(await completes(place, ['restore', file, '--root', target, '--layout', place.layout])), ...differences(place, target)]
    : []
  rmSync(target, { recursive: true, force: true })
  return outcomeOf(ended, violations)
} // biome-ignore format: short

async function attackRestore(place: Place): Promise<Outcome> {
  const file = join(place.folder, 'whole.tar.gz')
  const violations = await completes(place, ['backup', file, '--root', place.root])
  const target = join(place.folder, 'restored')
  // The root may not exist yet, or hold other things of the person.
  const isUsed = place.random() < 0.5
  if (isUsed) {
    mkdirSync(target)
    writeFileSync(join(target, 'mine.txt'), 'mine')
  }
  const argv = ['restore', file, '--root', target, '--layout', place.layout]
  const ended = await killed(place, 'restore', argv)
  const isThere = existsSync(join(target, 'memory'))
  if (!isThere) violations.push(...(await completes(place, argv)))
  violations.push(...differences(place, target))
  if (isUsed && readFileSync(join(target, 'mine.txt'), 'utf8') !== 'mine') violations.push('mine.txt changed')
  const left = readdirSync(place.folder).filter((name) => name.includes('.restoring-'))
  if (!isThere && left.length > 0) violations.push(`${left.join(', ')} was left behind`)
  for (const name of [target, ...left.map((each) => join(place.folder, each))]) {
    rmSync(name, { recursive: true, force: true })
  }
  return outcomeOf(ended, violations)
}

async function attackImport(place: Place): Promise<Outcome> {
  const source = join(place.folder, 'sessions')
  mkdirSync(source, { recursive: true })
  for (let i = 0; i < sessionsAtOnce; i++) {
    const id = `session-${place.imported++}`
    writeFileSync(join(source, `${id}.jsonl`), sessionOf(id))
  }
  const argv = ['import', source, '--root', place.root]
  const ended = await killed(place, 'import', argv)
  return outcomeOf(ended, await completes(place, argv))
}

const sessionOf = (id: string): string =>
  [
    { session_id: id },
    { id: `${id}-1`, role: 'user', content: `Where is ${id}?`, timestamp: '2026-03-05T10:00:00Z' },
    {
      id: `${id}-2`,
      role: 'assistant',
      content: `${sealedText(1, 2000)}`,
      timestamp: '2026-03-05T10:01:00Z',
    },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join('')

async function fill(root: string, layout: Place['layout']): Promise<void> {
  const memory = await openFileMemory({ root, layout, create: true, redact: 'allow' })
  for (let i = 0; i < notes; i++) await memory.write('long-term', `note-${i}`, sealedText(i, 400))
  await memory.write('long-term', 'MEMORY.md#harbour', 'The harbour has a lighthouse.')
  await memory.write('episodic', conversationKey('first'), archiveOf('first', 1), { type: conversationType })
  await memory.close()
}

/** What the next person finds. */
const lookAt = ({ root, layout, imported }: Place): Promise<string[]> =>
  lookAtRoot({ root, layout }, async (memory) => {
    const violations = await lookForNotes(memory, 'lorem', notes)
    for (let i = 0; i < notes; i += 7) {
      if (openSealed(await memory.read('long-term', `note-${i}`)) !== i)
        violations.push(`note-${i} is another`)
    }
    const archives = await memory.search('episodic', {}, { limit: 1000, touch: false })
    const sessions = new Set(archives.map(({ key }) => key))
    const wanted = ['first', ...Array.from({ length: imported }, (_, i) => `session-${i}`)].map((id) =>
      conversationKey(id),
    )
    for (const key of wanted) if (!sessions.has(key)) violations.push(`${key} is lost`)
    if (archives.length !== wanted.length)
      violations.push(`${archives.length} archives of ${wanted.length} sessions`)
    return violations
  })

/** How a restored root differs from the original. */
function differences({ root }: Place, target: string): string[] {
  const isText = (path: string): boolean => path.endsWith('.md')
  const list = (at: string): string[] =>
    existsSync(at) ? readdirSync(at, { recursive: true, encoding: 'utf8' }).filter(isText).sort() : []
  const [wanted, there] = [list(root), list(target)]
  const missing = wanted.filter((path) => !there.includes(path))
  const foreign = there.filter((path) => !wanted.includes(path))
  const other = wanted.filter(
    (path) =>
      there.includes(path) &&
      statSync(join(root, path)).isFile() &&
      readFileSync(join(root, path), 'utf8') !== readFileSync(join(target, path), 'utf8'),
  )
  return [
    ...(missing.length > 0
      ? [`${missing.length} files of ${wanted.length} are missing, as ${missing[0]}`]
      : []),
    ...(foreign.length > 0 ? [`${foreign[0]} was not there before`] : []),
    ...(other.length > 0 ? [`${other[0]} has another content`] : []),
  ]
}
