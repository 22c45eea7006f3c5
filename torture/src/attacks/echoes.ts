import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findRemembrance, openEchoes, parseEchoes } from '@recall/echoes'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import type { Attack } from '../attack.ts'
import { killAgainAndAgain } from '../storm.ts'

const script = fileURLToPath(new URL('../children/echoes-child.ts', import.meta.url))

interface Report {
  done: 'finding' | 'entry' | 'etched' | 'promoted'
  title: string
}

/** A role's memory while processes record, consolidate, prune, restore and promote. */
export const echoes: Attack = {
  what: 'agents that record, consolidate, prune and promote are killed: each finding waits, is remembered or is archived, once',
  size: 40,
  async round({ seed, size, folder }) {
    const [root, documents] = [join(folder, 'echoes'), join(folder, 'documents')]
    const { kills, reports, violations } = await killAgainAndAgain<Report>({
      script,
      args: [root, documents],
      kills: size,
      random: seededRandom(seed),
      folder,
      together: 2,
      check: (all) => findViolations(root, documents, all),
    })
    return { counts: { kills, 'acknowledged findings': reports.length }, violations }
  },
}

async function findViolations(
  root: string,
  documents: string,
  reports: readonly Report[],
): Promise<string[]> {
  const echoes = openEchoes({ root })
  // The next process finishes what was begun, and a person's check sweeps up.
  const known = (await echoes.read('reviewer')).echoes.map(({ entry }) => entry.title)
  const findings = await echoes.examine({ fix: true })
  const violations = findings.flatMap(({ ok, message, fixed }) =>
    // It is no fault if a memory grew since it was last pruned.
    ok || fixed || message.includes('lines') ? [] : [`doctor: ${message}`],
  )
  const folder = join(root, 'reviewer')
  const waiting = titlesIn(folder, /-findings\.md$/)
  const archived = new Set(titlesIn(join(folder, 'archive'), /\.md$/))
  const promoted = findRemembrance(documents).documents.map(({ remembrance }) => remembrance.title)
  const inMemory = count(known)
  const inFindings = count(waiting)
  for (const { done, title } of reports) {
    const places = (inMemory.get(title) ?? 0) + (inFindings.get(title) ?? 0)
    if (done === 'promoted') {
      if (!promoted.includes(title)) violations.push(`the document of ${title} is lost`)
    } else if (places > 1) violations.push(`${title} is there ${places} times`)
    else if (done === 'etched' && places === 0) violations.push(`${title} was etched and is gone`)
    else if (places === 0 && !archived.has(title)) violations.push(`${title} is lost`)
  }
  if (new Set(promoted).size < promoted.length) violations.push('a document was promoted twice')
  return violations
}

function titlesIn(folder: string, pattern: RegExp): string[] {
  const names = (existsSync(folder) ? readdirSync(folder) : []).filter((name) => pattern.test(name))
  return names.flatMap((name) =>
    parseEchoes(readFileSync(join(folder, name), 'utf8')).blocks.flatMap(({ entry }) => entry?.title ?? []),
  )
}

function count(titles: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const title of titles) counts.set(title, (counts.get(title) ?? 0) + 1)
  return counts
}
