import { type EchoLayer, echoLayers } from '@recall/echoes'
import type { Row } from '../report.ts'
import { median } from '../statistics.ts'
import { etchedPerRole, roles, simulateYear, type Week, type Year } from './echoes-year.ts'

const dayMs = 24 * 60 * 60 * 1000
const lineLimit = 150
/** A subject last found fewer than this many days before the end had no time to be archived. */
const observedDays = 150

export interface EchoesSettings {
  findings: number
  seed: number
  say(text: string): void
}

/** The effect of a year of findings on the memories of a team. */
export async function measureEchoes(settings: EchoesSettings): Promise<{ rows: Row[]; weeks: Week[] }> {
  const { findings, seed, say } = settings
  say('a year in which a new subject comes up every four weeks')
  const year = await simulateYear({ findings, seed, replaced: 1 })
  say('two new subjects every four weeks')
  const busy = await simulateYear({ findings, seed, replaced: 2 })
  say('every finding is a new subject')
  const flood = await simulateYear({ findings, seed, replaced: 'all' })
  const row = (what: string, ours: number, peer: string, peers: number, bound: Partial<Row> = {}): Row => ({
    what,
    size: findings,
    ours,
    peer,
    peers,
    ratio: ours / peers,
    ...bound,
  })
  const all = { bound: 1, atLeast: true }
  const longest = ({ weeks }: Year): number => Math.max(...weeks.map((week) => week.longest))
  const accounted = ({ subjects, accounted: titles }: Year): number =>
    subjects.filter(({ title }) => titles.has(title)).length
  const lasting = (layer: 'inscribed' | 'traced'): Row => {
    // More subjects disappear in a busy year.
    const used = daysToArchive(busy, layer, true)
    const unused = daysToArchive(busy, layer, false)
    const [ours, peers] = [median(used), median(unused)]
    return row(
      `days from last found to archived, two new subjects a month: ${layer}, used (${used.length})`,
      ours,
      `not used (${unused.length})`,
      peers,
      { bound: 1.1, atLeast: true },
    )
  }
  const kept = (name: string, of: Year): Row[] => [
    row(`etched that stand, ${name}`, of.etched, 'added by a person', roles.length * etchedPerRole, all),
    row(`subjects that stand or were restored, ${name}`, accounted(of), 'found', of.subjects.length, all),
  ]
  const lines = (name: string, of: Year, bound?: Partial<Row>): Row =>
    row(`lines of the longest memory, ${name}`, longest(of), 'limit', lineLimit, bound)
  const rows = [
    lines('a new subject a month', year, { bound: 1 }),
    ...kept('a new subject a month', year),
    // The rules keep entries younger than 30 and 90 days, so a memory that learns this fast stays above the limit.
    lines('two new subjects a month', busy),
    ...kept('two new subjects a month', busy),
    lines('all findings new', flood),
    ...kept('all findings new', flood),
    lasting('inscribed'),
    lasting('traced'),
  ]
  return { rows, weeks: year.weeks }
}

/** Subjects that still exist count until the end: they last at least that long. */
const daysToArchive = ({ subjects, end }: Year, layer: EchoLayer, used: boolean): number[] =>
  subjects.flatMap((subject) => {
    const { lastFound = end, archivedAt = end } = subject
    if (subject.layer !== layer || subject.used !== used || end - lastFound < observedDays * dayMs) return []
    return [(archivedAt - lastFound) / dayMs]
  })

const colours: Record<EchoLayer, string> = { etched: '#1f4d3a', inscribed: '#4f9274', traced: '#b9d3c6' }

/** The layers of all memories over the weeks, stacked. */
export function layersChart(weeks: readonly Week[]): string {
  const [width, height, left, top] = [660, 260, 50, 20]
  const most = Math.max(...weeks.map(({ layers }) => echoLayers.reduce((sum, each) => sum + layers[each], 0)))
  const x = (week: number): number => left + (week * width) / (weeks.length - 1)
  const y = (entries: number): number => top + height - (entries * height) / most
  const below = weeks.map(() => 0)
  const areas = echoLayers.map((layer, i) => {
    const floor = below.map((entries, week) => `${x(week).toFixed(1)},${y(entries).toFixed(1)}`).reverse()
    weeks.forEach(({ layers }, week) => {
      below[week] = (below[week] ?? 0) + layers[layer]
    })
    const ceiling = below.map((entries, week) => `${x(week).toFixed(1)},${y(entries).toFixed(1)}`)
    return `<polygon points="${[...ceiling, ...floor].join(' ')}" fill="${colours[layer]}"/>
<rect x="${left + i * 110}" y="${top + height + 30}" width="12" height="12" fill="${colours[layer]}"/><text x="${left + 18 + i * 110}" y="${top + height + 41}">${layer}</text>`
  })
  const marks = [0, Math.round(most / 2), most].map(
    (entries) => `<text x="${left - 6}" y="${y(entries) + 4}" text-anchor="end">${entries}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${left + width + 20} ${top + height + 52}" font-family="sans-serif" font-size="12" role="img" aria-label="entries of each layer over ${weeks.length} weeks">
<rect width="100%" height="100%" fill="#fff"/>
${[...areas, ...marks].join('\n')}
<text x="${left}" y="${top + height + 18}">week 1</text><text x="${left + width}" y="${top + height + 18}" text-anchor="end">week ${weeks.length}</text>
</svg>
`
}
