import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EchoEntry, type Echoes, type EchoLayer, openEchoes } from '@recall/echoes'
import { createRandom } from '../corpus.ts'

export const roles = ['planner', 'workers', 'reviewer', 'auditor', 'team']
export const etchedPerRole = 2

const dayMs = 24 * 60 * 60 * 1000
const weeksPerYear = 52
const start = Date.parse('2026-01-05T08:00:00Z')
/** Subjects that a role meets at the same time. */
const openSubjects = 6
/** A used entry goes on being used for this long after it was last found. */
const usedForWeeks = 10

/** Entries of each layer in all memories at the end of a week, and lines of the longest memory. */
export interface Week {
  layers: Record<EchoLayer, number>
  longest: number
}

/** Something that is found again and again, until it no longer is. */
export interface Subject {
  role: string
  title: string
  layer: 'inscribed' | 'traced'
  /** Workflows use its entry as long as it exists, and for some weeks after it was last found. */
  used: boolean
  lastFound?: number
  /** When its entry was archived, if it was and did not come back. */
  archivedAt?: number
}

export interface Year {
  weeks: Week[]
  end: number
  /** Those that were found at least once. */
  subjects: Subject[]
  /** Titles that exist at the end, after everything archived was restored. */
  accounted: Set<string>
  etched: number
}

/**
 * Simulates a year: findings every week, consolidated at its end, and workflows that use the existing entries.
 *
 * @param options.replaced how many of a role's six open subjects are replaced by new ones every four weeks; `all`:
 * every finding is a new subject
 */
export async function simulateYear(options: {
  findings: number
  seed: number
  replaced: number | 'all'
}): Promise<Year> {
  const root = mkdtempSync(join(tmpdir(), 'recall-bench-echoes-'))
  let now = start
  const echoes = openEchoes({ root, lead: true, askHuman: async () => true, clock: () => now })
  const random = createRandom(options.seed)
  const subjects: Subject[] = []
  const nextSubject = (role: string): Subject => {
    const n = subjects.length
    const layer = random() < 0.5 ? 'inscribed' : 'traced'
    subjects.push({ role, title: `Subject ${n}`, layer, used: random() < 0.5 })
    return subjects[n] as Subject
  }
  const open = new Map(
    roles.map((role) => [role, Array.from({ length: openSubjects }, () => nextSubject(role))]),
  )
  const { replaced } = options
  const replaceSome = (round: number, some: number): void => {
    for (const [role, current] of open) {
      for (let n = 0; n < some; n++) current[(round * some + n) % openSubjects] = nextSubject(role)
    }
  }
  const weeks: Week[] = []
  try {
    for (const role of roles) {
      for (let n = 0; n < etchedPerRole; n++) {
        await echoes.add(role, entryOf({ role, title: `Principle ${n}`, layer: 'etched' }, now))
      }
    }
    for (let week = 0; week < weeksPerYear; week++) {
      now = start + week * 7 * dayMs
      if (week > 0 && week % 4 === 0 && replaced !== 'all') replaceSome(week / 4, replaced)
      const last = Math.round((options.findings * (week + 1)) / weeksPerYear)
      for (let n = Math.round((options.findings * week) / weeksPerYear); n < last; n++) {
        const role = roles[n % roles.length] as string
        const current = open.get(role) as Subject[]
        const subject =
          replaced === 'all' ? nextSubject(role) : (current[Math.floor(random() * current.length)] as Subject)
        subject.lastFound = now
        await echoes.appendFinding(role, `agent-${n % 4}`, entryOf(subject, now))
      }
      now += 5 * dayMs
      for (const role of roles) await echoes.consolidate(role)
      weeks.push(await closeWeek(echoes, subjects, week, now))
    }
    const etched = (await standing(echoes)).filter(({ layer }) => layer === 'etched').length
    for (const role of roles) {
      for (const { id } of (await echoes.read(role)).archived) await echoes.restoreEntry(role, id)
    }
    const accounted = new Set((await standing(echoes)).map(({ title }) => title))
    return {
      weeks,
      end: now,
      subjects: subjects.filter(({ lastFound }) => lastFound !== undefined),
      accounted,
      etched,
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Counts the existing entries, notes which have gone, and uses those in use. */
async function closeWeek(
  echoes: Echoes,
  subjects: readonly Subject[],
  week: number,
  now: number,
): Promise<Week> {
  const layers = { etched: 0, inscribed: 0, traced: 0 }
  let longest = 0
  for (const role of roles) {
    const { echoes: all, text } = await echoes.read(role)
    longest = Math.max(longest, text.split('\n').length - 1)
    const ids = new Map(all.map(({ id, entry }) => [entry.title, id]))
    for (const { entry } of all) layers[entry.layer] += 1
    const inUse: string[] = []
    for (const subject of subjects) {
      if (subject.role !== role || subject.lastFound === undefined) continue
      const id = ids.get(subject.title)
      if (id === undefined) subject.archivedAt ??= now
      else {
        delete subject.archivedAt
        if (subject.used && now - subject.lastFound <= usedForWeeks * 7 * dayMs) inUse.push(id)
      }
    }
    await echoes.reference(role, `week-${week}`, inUse)
  }
  return { layers, longest }
}

async function standing(echoes: Echoes): Promise<EchoEntry[]> {
  const all = await Promise.all(roles.map((role) => echoes.read(role)))
  return all.flatMap((role) => role.echoes.map(({ entry }) => entry))
}

function entryOf(
  { title, layer, role }: { title: string; layer: EchoLayer; role: string },
  now: number,
): EchoEntry {
  const day = new Date(now).toISOString().slice(0, 10)
  return {
    date: day,
    kind: 'Pattern',
    title,
    layer,
    source: `rune:${role} week of ${day}`,
    confidence: 0.8,
    evidence: `\`src/${title.toLowerCase().replaceAll(' ', '-')}.ts:1-9\` — seen there`,
    verified: day,
    supersedes: null,
    learning: `${title} slows the ${role} down. It was met in a module that others copy from.`,
  }
}
