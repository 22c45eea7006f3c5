import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, createMemoryManager } from '@recall/core'
import { checkUp } from '../../src/doctor.ts'
import { archiveRows } from '../../src/documents/archive-index.ts'
import { defaultFileSystem } from '../../src/files/file-system.ts'
import { openFileStore } from '../../src/open-file-memory.ts'
import { bundleScript, startChild } from './child-process.ts'
import { seededRandom } from './random.ts'
import { reportsIn } from './storm-reports.ts'
import { openSealed, type Report } from './storm-values.ts'

export interface StormOptions {
  root: string
  kills: number
  seed: number
  /** Writers that are alive at the same time. */
  writers?: number
}

export interface StormResult {
  kills: number
  /** Writes that were acknowledged, and then looked for. */
  acknowledged: number
  violations: string[]
}

/**
 * Lets processes write to one memory and kills them at random moments; after each round opens the memory and
 * looks for every write that was acknowledged, for torn files and for half of an atomic update.
 */
export async function runKillStorm({ root, kills, seed, writers = 2 }: StormOptions): Promise<StormResult> {
  const random = seededRandom(seed)
  const script = await bundleScript('storm-child.ts')
  const reports = join(root, '..', `storm-${process.pid}-${seed}.jsonl`)
  const file = openSync(reports, 'w+')
  const result: StormResult = { kills: 0, acknowledged: 0, violations: [] }
  let checked = 0
  try {
    while (result.kills < kills) {
      const children = Array.from({ length: Math.min(writers, kills - result.kills) }, () => {
        const name = `w${result.kills++}`
        return startChild(script, [root, name, String(Math.floor(random() * 2 ** 31))], [file])
      })
      await Promise.all(
        children.map(async (child) => {
          // Some writes, however slow the machine is, and then at any moment of the next one.
          for (let left = Math.floor(random() * 8); left >= 0; left--) await child.message()
          await moment(random() * 15)
          child.process.kill('SIGKILL')
          await child.ended
        }),
      )
      const all = reportsIn<Report>(reports)
      const fresh = all.slice(checked)
      checked = all.length
      result.acknowledged += fresh.filter((each) => 'done' in each).length
      for (const violation of await findViolations(root, fresh)) {
        result.violations.push(`after kill ${result.kills}: ${violation}`)
      }
    }
    // What survived the last kill of its writer must have survived all later ones as well.
    result.violations.push(...(await findViolations(root, reportsIn<Report>(reports))))
  } finally {
    closeSync(file)
    defaultFileSystem.unlinkSync(reports)
  }
  return result
}

const moment = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

async function findViolations(root: string, reports: Report[]): Promise<string[]> {
  const violations: string[] = []
  const notices: string[] = []
  const store = await openFileStore({ root, onNotice: (text) => notices.push(text) })
  const memory = createMemoryManager({ stores: store, redact: 'allow' })
  const read = (key: string): Promise<unknown> => memory.read('long-term', key)
  const expect = async (what: string, check: () => Promise<boolean>): Promise<void> => {
    try {
      if (!(await check())) violations.push(what)
    } catch (error) {
      violations.push(`${what}: ${(error as Error).message}`)
    }
  }

  // Whoever searches first sweeps up what dead processes left half-written.
  await memory.search('long-term', { text: 'lorem' })
  const latest = new Map<string, Report>()
  for (const each of reports) latest.set('id' in each ? each.id : each.key, each)
  for (const each of latest.values()) {
    if ('begun' in each) {
      await expect(`${each.key} is torn by its deletion`, async () => {
        const value = await read(each.key)
        return value === null || openSealed(value) > 0
      })
    } else if (each.done === 'note') {
      await expect(`${each.key} is lost`, async () => (await read(each.key)) === each.value)
    } else if (each.done === 'delete') {
      await expect(`${each.key} is back`, async () => (await read(each.key)) === null)
    } else if (each.done === 'hot' || each.done === 'section') {
      await expect(
        `${each.key} is older than acknowledged`,
        async () => openSealed(await read(each.key)) >= each.n,
      )
    } else if (each.done === 'pair') {
      await expect(`${each.key} is half written`, async () => {
        const [a, b] = [await read(`${each.key}-a`), await read(`${each.key}-b`)]
        return a === b && openSealed(a) >= each.n
      })
    } else {
      await expect(`archive ${each.id} is lost`, async () => {
        const archive = await memory.read<{ body: string }>('episodic', conversationKey(each.id))
        return openSealed(archive?.body.replace('## Summary\n\n', '').trimEnd()) > 0
      })
    }
  }
  await expect('hot is torn', async () => {
    const hot = await read('hot')
    return hot === null || openSealed(hot) > 0
  })
  await expect(
    'an atomic update of two writers is mixed',
    async () => (await read('shared-a')) === (await read('shared-b')),
  )
  const known = [...latest.values()].flatMap((each) =>
    'done' in each && each.done === 'note' ? each.key : [],
  )
  for (const key of known.slice(-3)) {
    await expect(`${key} is not found by a search`, async () => {
      const found = await memory.search('long-term', { filters: { key } })
      return found.length === 1
    })
  }
  violations.push(...checkFiles(root))
  for (const { ok, check, message } of checkUp(defaultFileSystem, store, { deep: true, fix: false })) {
    if (!ok) violations.push(`${check}: ${message}`)
  }
  violations.push(...notices.filter((text) => text.includes('damaged')))
  await memory.close()
  return violations
}

/** What the files themselves say, after a search has swept up behind dead processes. */
function checkFiles(root: string): string[] {
  const folder = join(root, 'memory')
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const archives = names.filter((name) => /conversation-\d+\.md$/.test(name))
  const rows = archives.length > 0 ? archiveRows(readFileSync(join(folder, 'ARCHIVE.md'), 'utf8')) : []
  return [
    ...names.filter((name) => name.includes('.tmp-')).map((name) => `${name} was left behind`),
    ...names.filter((name) => name.endsWith('journal.json')).map(() => 'a journal was left behind'),
    ...(rows.length === archives.length && new Set(rows).size === rows.length
      ? []
      : [`${archives.length} archives, ${rows.length} rows in ARCHIVE.md`]),
  ]
}
