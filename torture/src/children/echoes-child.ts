import { writeSync } from 'node:fs'
import { isMemoryError } from '@recall/core'
import { openEchoes, promoteEcho } from '@recall/echoes'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import { findingOf } from './echo-values.ts'

/**
 * Endlessly records findings, consolidates, prunes and promotes, and reports each call that has returned, until it is
 * killed.
 */
const [root = '', documents = '', name = '', seed = '0'] = process.argv.slice(2)
const random = seededRandom(Number(seed))
// Small enough that pruning has something to do.
const policy = { lineLimit: 60 }
const echoes = openEchoes({ root, policy })
const byPerson = openEchoes({ root, policy, askHuman: async () => true })

const report = (done: string, title: string): void => {
  writeSync(4, `${JSON.stringify({ done, title })}\n`)
  process.send?.('progress')
}

/** Somebody else may have changed the memory since the plan was made: that is a valid answer. */
const unlessChanged = async (call: () => Promise<unknown>): Promise<void> => {
  try {
    await call()
  } catch (error) {
    if (!isMemoryError(error, 'MEMORY_CONFLICT')) throw error
  }
}

const operations: ((n: number) => Promise<void>)[] = [
  async (n) => {
    const finding = findingOf(`${name}-${n}`, random() < 0.5 ? 'traced' : 'inscribed', random() < 0.3)
    await echoes.appendFinding('reviewer', `agent-${n % 3}`, finding)
    report('finding', finding.title)
  },
  async (n) => {
    const entry = findingOf(`${name}-${n}`, 'traced', false)
    await echoes.add('reviewer', entry)
    report('entry', entry.title)
  },
  async (n) => {
    const entry = findingOf(`${name}-${n}`, 'etched', false)
    await byPerson.add('reviewer', entry)
    report('etched', entry.title)
    const known = (await byPerson.read('reviewer')).echoes.find((each) => each.entry.title === entry.title)
    if (!known) throw new Error(`${entry.title} is not in the memory that it was added to`)
    const { decision } = await promoteEcho({ folder: documents }, 'reviewer', known, {
      category: 'runtime-errors',
      tags: [entry.title],
      symptom: `symptom of ${entry.title}`,
      root_cause: `${name} ${n}`,
      solution_summary: `solution of ${entry.title}`,
      actionable: true,
    })
    if (decision === 'promote') report('promoted', entry.title)
  },
  async () => void (await echoes.consolidate('reviewer')),
  async () => unlessChanged(async () => echoes.applyPrune(await echoes.planPrune('reviewer'))),
  async () => {
    const ids = (await echoes.read('reviewer')).echoes.map(({ id }) => id)
    if (ids.length > 0) await echoes.reference('reviewer', name, ids.slice(0, 3))
  },
  async () => {
    const { archived } = await echoes.read('reviewer')
    const [one] = archived.filter(({ id }) => !id.startsWith('etched'))
    if (one) await unlessChanged(() => echoes.restoreEntry('reviewer', one.id))
  },
]
const weights = [6, 1, 0.5, 2, 1, 0.5, 0.3]

process.send?.('ready')
for (let n = 1; ; n++) {
  const chosen = random() * weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  const at = weights.findIndex((weight) => {
    sum += weight
    return chosen < sum
  })
  await operations[at]?.(n)
}
