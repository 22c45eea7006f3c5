import { lazily } from '../text/lazily.ts'
import { terminalStyles } from '../text/terminal-styles.ts'
import { type Assigned, assignedReader } from './assignments.ts'
import type { ColumnFinder } from './columns.ts'
import { inDatabaseOutput } from './database-output.ts'
import type { Detector } from './detector.ts'
import { ofCommands } from './detectors.ts'
import { type Gated, openRows } from './gates.ts'
import { inInserts } from './inserts.ts'
import { inManifests } from './manifests.ts'
import { withoutPlaceholders } from './placeholder.ts'
import { inTables } from './tables.ts'

/** The place of a secret in a text. */
export interface Span {
  start: number
  end: number
  kind: string
  /** Row of the detector; the earliest names the kind. */
  row: number
}

/**
 * Returns a function that finds the secrets of a text by a table, including those that only show without terminal
 * styles.
 */
export function secretFinder(table: readonly Detector[]): (text: string) => Span[] {
  // The shape of a secret says more about its kind than the text around it.
  const findPlain = finderOf(() => [...toRows(table), ...inColumns.map((each) => toRow(each, table.length))])
  const findInLists = (text: string): Span[] =>
    findBetween(text, itemEnds, ' ', findCommands).map((span) => ({ ...span, row: table.length + span.row }))
  const findInAllForms = (text: string): Span[] => [...findPlain(text), ...findInLists(text)]
  return (text) => [...findInAllForms(text), ...findBetween(text, terminalStyles, '', findInAllForms)]
}

type ReadAssigned = (at: number) => Assigned | undefined

/** One way to find secrets. */
interface Row extends Gated {
  find(text: string, readAssigned: ReadAssigned): Span[]
}

/** Returns a function that finds the secrets of a text by rows. */
function finderOf(rows: () => readonly Row[]): (text: string) => Span[] {
  // Made for the first text: most commands never look for a secret.
  const findOpen = lazily(() => openRows(rows()))
  return (text) => {
    if (text.length < 6) return []
    const readAssigned = assignedReader(text)
    return findOpen()(text).flatMap((row) => row.find(text, readAssigned))
  }
}

const toRows = (table: readonly Detector[]): Row[] =>
  table.map((detector, row) => ({
    gate: detector.gate,
    ignoresCase: detector.pattern.ignoreCase,
    find: (text, readAssigned) => findBy(detector, row, text, readAssigned),
  }))

const toRow = ({ gate, find }: ColumnFinder, row: number): Row => ({
  gate,
  ignoresCase: true,
  find: (text) => find(text).map((span) => ({ ...span, row })),
})

const inColumns = [...inTables, inInserts, inManifests, ...inDatabaseOutput]
const findCommands = finderOf(() => toRows(ofCommands))

function findBy(detector: Detector, row: number, text: string, readAssigned: ReadAssigned): Span[] {
  const spans: Span[] = []
  const run: Run = { end: 0, judged: 0 }
  for (const match of text.matchAll(detector.pattern)) {
    const span = secretOf(text, match, detector, readAssigned, run)
    if (span) spans.push({ ...span, kind: detector.kind, row })
  }
  return spans
}

/**
 * The gap from one word of a list of arguments to the next, or from the command to its list: `spawn("psql", ["-h", …`.
 */
const itemEnds = /["'],\s{0,40}\[?\s{0,40}["']/g

/**
 * Finds secrets with the gaps of a text read as `filler`, and returns their places in the text itself: a terminal style
 * can stand between a name and its value, or within either, and the words of a command may be the items of a list.
 */
function findBetween(text: string, gaps: RegExp, filler: string, find: (shown: string) => Span[]): Span[] {
  const shown = text.replace(gaps, filler)
  if (shown === text) return []
  const found = find(shown)
  if (found.length === 0) return []
  const places = placesIn(text, gaps, filler)
  return found.map((span) => ({
    ...span,
    start: places[span.start] ?? 0,
    end: (places[span.end - 1] ?? 0) + 1,
  }))
}

/** The position in the text of each character of the text with fillers. */
function placesIn(text: string, gaps: RegExp, filler: string): Uint32Array {
  const places = new Uint32Array(text.length)
  let shown = 0
  let from = 0
  const show = (to: number): void => {
    while (from < to) places[shown++] = from++
  }
  for (const gap of text.matchAll(gaps)) {
    show(gap.index)
    for (let i = 0; i < filler.length; i++) places[shown++] = gap.index
    from = gap.index + gap[0].length
  }
  show(text.length)
  return places
}

/** The run without spaces that a detector is in, and how many values it has judged there. */
interface Run {
  end: number
  judged: number
}

/** Texts have few names in one run; hostile ones have thousands, and to judge each value would take seconds. */
const mostInRun = 8

function isOneTooMany({ run }: Assigned, known: Run): boolean {
  if (run === undefined) return false
  if (run !== known.end) Object.assign(known, { end: run, judged: 0 })
  return ++known.judged > mostInRun
}

function secretOf(
  text: string,
  match: RegExpExecArray,
  detector: Detector,
  readAssigned: ReadAssigned,
  run: Run,
): Pick<Span, 'start' | 'end'> | undefined {
  const { follows, accept } = detector
  let start = match.index
  let end = start + match[0].length
  if (follows) {
    const value = readAssigned(end)
    if (!value || (isComparison(match[0]) && !value.quoted) || isOneTooMany(value, run)) return undefined
    const evidence = { quoted: value.quoted, environment: isSetting(text, match, value) }
    // Judges only the start of a long value: judging all of it for every name inside it would not be linear.
    if (!follows(text.slice(value.start, Math.min(value.end, value.start + 256)), evidence)) return undefined
    start = value.start
    end = value.end
  } else {
    const range = match.indices?.groups?.secret
    if (range) [start, end] = range
  }
  const secret = text.slice(start, end)
  if (withoutPlaceholders(secret).trim() === '') return undefined
  if (accept && !accept(secret, text.slice(Math.max(0, match.index - 64), match.index))) return undefined
  return { start, end }
}

/**
 * What precedes a name in a command option, `--db-password=…`, `-Ddb.password=…`, in a query, `?user=ada&…`, and in a
 * connection string, `Server=db;User Id=ada;…`, `host=db user=ada …`.
 */
const beforeSetting =
  /(?:(?<![\w-])(?:--|-D)[\w.-]*|(?<!&)[?&]|(?:server|host|database|dbname|port|uid|user(?: id|name)?)=[^;=\s]{1,40}[; ] ?)$/i

/** The line before that of a password, which names its account. */
const lineOfAccount =
  /(?:^|\n)[ \t]*(?:[-*+] )?[*_]{0,3}[\w.-]*(?:user|user[_-]?name|login|email)[*_]{0,3}[ \t]*[:=][*_]{0,3}[ \t]*\S{1,60}[ \t]*\r?\n[ \t]*(?:[-*+] )?[*_]{0,3}[\w.-]*$/i

/**
 * Whether a value is assigned as in an environment file, `NAME=value`, or where `beforeSetting` says so, or on a line of
 * its own as in YAML, `DB_PASSWORD: value`, or below the name of an account.
 */
function isSetting(text: string, { 0: name, index }: RegExpExecArray, { end }: Assigned): boolean {
  if (/^[A-Z0-9_]+=$/.test(name)) return true
  const before = text.slice(Math.max(0, index - 128), index)
  if (name.endsWith('=') && beforeSetting.test(before)) return true
  if (!/^[ \t]*(?:#|\r?\n|$)/.test(text.slice(end, end + 80))) return false
  const isVariable = /^[A-Z0-9_]+[*_]{0,3}:[*_]{0,3}[ \t]+$/.test(name) && /[A-Z0-9]_$/.test(before)
  return isVariable || (/^\w+[*_]{0,3}(?:=|:[*_]{0,3}[ \t]+)$/.test(name) && lineOfAccount.test(before))
}

/** `token === other` only compares, but `password === 'hunter2'` reveals a password. */
const isComparison = (assignment: string): boolean => /==[ \t]*$/.test(assignment)
