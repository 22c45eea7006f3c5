import type { JsonObject, JsonValue } from '../json.ts'
import { terminalStyles } from '../text/terminal-styles.ts'
import { type Assigned, assignedReader } from './assignments.ts'
import type { Detector } from './detector.ts'
import { detectors, isPublicName, isSecretCookie, isSecretMember, ofCommands } from './detectors.ts'
import { literalFilter } from './literal-filter.ts'
import { placeholder, withoutPlaceholders } from './placeholder.ts'

/** How often each kind of secret was replaced. */
export type RedactionCounts = Record<string, number>

/**
 * Replaces what looks like a secret by `[redacted:<kind>]`. Pattern matching misses things: this guards
 * against accidents, not against somebody who means to hide a secret.
 *
 * All patterns are linear, so a text of any length is scanned as a whole: no secret can hide at a chunk boundary.
 */
export function redactText(text: string): { text: string; counts: RedactionCounts } {
  const counts: RedactionCounts = {}
  return { text: redactString(text, detectors, counts), counts }
}

/**
 * The text without secrets of a known kind, for keys, names and messages. What only looks random stays: a generated key
 * does, without being secret.
 */
export const withoutSecrets = (text: string): string => redactString(text, withoutEntropy, {})

/** `redactText` on every string and member name; a member's name can also say that its value is a secret. */
export function redactJson(value: JsonValue): { value: JsonValue; counts: RedactionCounts } {
  const counts: RedactionCounts = {}
  return { value: redactValue(value, '', counts), counts }
}

/** Matches any gate of a table: most texts hold none, and one scan is cheaper than a hundred. */
function gatesOf(table: readonly Detector[]): RegExp {
  const literals = new Set(table.flatMap(({ gate }) => gate))
  return new RegExp([...literals].map((literal) => literal.replace(/[.?$]/g, '\\$&')).join('|'))
}

const exactGates = gatesOf(detectors.filter(({ pattern }) => !pattern.ignoreCase))
const foldedGates = gatesOf(detectors.filter(({ pattern }) => pattern.ignoreCase))
/** In a shorter text each gate is looked for sooner than the filter is made. */
const shortText = 500
const filterGates = literalFilter(detectors.flatMap(({ gate }) => gate))
const withoutEntropy = detectors.filter(({ kind }) => kind !== 'high-entropy')

function redactValue(value: JsonValue, name: string, counts: RedactionCounts): JsonValue {
  if (typeof value === 'string') {
    const kind = name === '' ? undefined : isSecretMember(name, value)
    if (kind === undefined && /authorization$/i.test(name)) return redactHeader(value, counts)
    if (kind === undefined)
      return redactString(value, isPublicName(name) ? withoutEntropy : detectors, counts)
    count(counts, kind)
    return placeholder(kind)
  }
  if (Array.isArray(value)) return redactList(value, name, '', counts)
  if (value === null || typeof value !== 'object') return value
  const members = new Map<string, JsonValue>()
  for (const [key, member] of Object.entries(value)) {
    const clean = redactString(key, withoutEntropy, counts)
    members.set(unused(clean, members), redactMember(value, key, member, name, counts))
  }
  return Object.fromEntries(members)
}

function redactMember(
  object: JsonObject,
  key: string,
  member: JsonValue,
  name: string,
  counts: RedactionCounts,
): JsonValue {
  const isValue = /^value$/i.test(key)
  const pair = nameIn(object)
  if (/cookies$/i.test(name) && (isValue || pair === undefined) && isSecretCookie(member)) {
    count(counts, 'cookie')
    return placeholder('cookie')
  }
  const { command } = object
  if (Array.isArray(member) && typeof command === 'string') return redactList(member, key, command, counts)
  return redactValue(member, isValue ? (pair ?? name) : key, counts)
}

function redactList(list: JsonValue[], name: string, command: string, counts: RedactionCounts): JsonValue[] {
  const clean = list.map((item, i) => redactValue(item, optionAt(list, i - 1) ?? name, counts))
  return clean.every((item) => typeof item === 'string') ? redactArguments(command, clean, counts) : clean
}

/** Hides what a command is told by its arguments, each of which is one word of its line whatever it holds. */
function redactArguments(command: string, list: readonly string[], counts: RedactionCounts): string[] {
  const line = [command, ...list].map((word) => word.replace(/[\s|;&]/g, '_')).join(' ')
  const spans = merge(findSecrets(line, ofCommands))
  let end = command.length + 1
  let next = 0
  return list.map((argument) => {
    const start = end
    end += argument.length + 1
    while ((spans[next]?.start ?? end) < start) next++
    const span = spans[next]
    if (!span || span.start >= end) return argument
    count(counts, span.kind)
    return argument.slice(0, span.start - start) + placeholder(span.kind)
  })
}

/** Behind a scheme stands a secret that only the name of the header tells: it is read as on a line with its name. */
function redactHeader(value: string, counts: RedactionCounts): string {
  const name = 'authorization: '
  return redactString(name + value, detectors, counts).slice(name.length)
}

/** The option of a command whose value is the next item of its arguments, such as `--password`. */
function optionAt(list: readonly JsonValue[], i: number): string | undefined {
  const item = list[i]
  return typeof item === 'string' && /^--?[\w-]+$/.test(item) ? item : undefined
}

/** What a value is called by a member beside it, as in `{"name": "PASSWORD", "value": "…"}`. */
function nameIn(pair: JsonObject): string | undefined {
  const name = [pair.name, pair.key, pair.Name, pair.Key].find((each) => typeof each === 'string')
  return typeof name === 'string' ? name : undefined
}

/** A member name that is still free: two secrets of a kind as names must not become one member. */
function unused(name: string, members: ReadonlyMap<string, unknown>): string {
  let free = name
  for (let n = 2; members.has(free); n++) free = `${name} (${n})`
  return free
}

function redactString(text: string, table: readonly Detector[], counts: RedactionCounts): string {
  let clean = text
  // A replacement can expose another secret beside it; only a text made for that needs more than two rounds.
  for (let round = 0; round < 8; round++) {
    const spans = merge([
      ...findAlsoInLists(clean, table),
      ...findBetween(clean, terminalStyles, '', (shown) => findAlsoInLists(shown, table)),
    ])
    if (spans.length === 0) break
    clean = replaceSpans(clean, spans, counts)
  }
  return clean
}

interface Span {
  start: number
  end: number
  kind: string
  /** Row of the detector; the earliest names the kind. */
  row: number
}

function findSecrets(text: string, table: readonly Detector[]): Span[] {
  if (text.length < 6) return []
  const spans: Span[] = []
  const lower = text.toLowerCase()
  const anyExact = exactGates.test(text)
  const anyFolded = foldedGates.test(lower)
  const mayHold = text.length > shortText && (anyExact || anyFolded) ? filterGates(lower) : () => true
  const readAssigned = assignedReader(text)
  table.forEach((detector, row) => {
    const { gate, pattern, kind } = detector
    if (gate.length > 0) {
      if (!(pattern.ignoreCase ? anyFolded : anyExact)) return
      const searched = pattern.ignoreCase ? lower : text
      if (!gate.some((literal) => mayHold(literal) && searched.includes(literal))) return
    }
    const run: Run = { end: 0, judged: 0 }
    for (const match of text.matchAll(pattern)) {
      const span = secretOf(text, match, detector, readAssigned, run)
      if (span) spans.push({ ...span, kind, row })
    }
  })
  return spans
}

function findAlsoInLists(text: string, table: readonly Detector[]): Span[] {
  return [
    ...findSecrets(text, table),
    ...findBetween(text, itemEnds, ' ', (line) => findSecrets(line, ofCommands)),
  ]
}

/** From one word of a list of arguments to the next, also from the command that it is for: `spawn("psql", ["-h", …`. */
const itemEnds = /["'],\s{0,40}\[?\s{0,40}["']/g

/**
 * The secrets of a text as it is where the gaps in it are read as `filler`: a style of a terminal can stand between a
 * name and its value, or within either, and the words of a command may be the items of a list.
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

/** Where each character of the text with fillers stands in the text. */
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

/** The run without spaces that a detector is in, and how many of its values it has judged there. */
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
  readAssigned: (at: number) => Assigned | undefined,
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
 * What stands before a name in an option of a command, `--db-password=…`, `-Ddb.password=…`, in a query, `?user=ada&…`,
 * and in the description of a connection, `Server=db;User Id=ada;…`, `host=db user=ada …`.
 */
const beforeSetting =
  /(?:(?<![\w-])(?:--|-D)[\w.-]*|(?<!&)[?&]|(?:server|host|database|dbname|port|uid|user(?: id|name)?)=[^;=\s]{1,40}[; ] ?)$/i

/** The line before a password's that tells whose it is. */
const lineOfAccount =
  /(?:^|\n)[ \t]*(?:- )?[\w.-]*(?:user|user[_-]?name|login|email)[ \t]*[:=][ \t]*\S{1,60}[ \t]*\r?\n[ \t]*[\w.-]*$/i

/**
 * Whether a value is assigned as in an environment file, `NAME=value`, or where `beforeSetting` says so, or on a line of
 * its own as in YAML, `DB_PASSWORD: value`, or below the name of an account.
 */
function isSetting(text: string, { 0: name, index }: RegExpExecArray, { end }: Assigned): boolean {
  if (/^[A-Z0-9_]+=$/.test(name)) return true
  const before = text.slice(Math.max(0, index - 128), index)
  if (name.endsWith('=') && beforeSetting.test(before)) return true
  if (!/^[ \t]*(?:#|\r?\n|$)/.test(text.slice(end, end + 80))) return false
  const isVariable = /^[A-Z0-9_]+:[ \t]+$/.test(name) && /[A-Z0-9]_$/.test(before)
  return isVariable || (/^\w+(?:=|:[ \t]+)$/.test(name) && lineOfAccount.test(before))
}

/** `token === other` only compares, but `password === 'hunter2'` reveals a password. */
const isComparison = (assignment: string): boolean => /==[ \t]*$/.test(assignment)

function merge(spans: Span[]): Span[] {
  const merged: Span[] = []
  for (const span of spans.sort((a, b) => a.start - b.start)) {
    const last = merged.at(-1)
    if (!last || span.start >= last.end) {
      merged.push({ ...span })
      continue
    }
    last.end = Math.max(last.end, span.end)
    if (span.row < last.row) {
      last.row = span.row
      last.kind = span.kind
    }
  }
  return merged
}

function replaceSpans(text: string, spans: readonly Span[], counts: RedactionCounts): string {
  let clean = ''
  let from = 0
  for (const { start, end, kind } of spans) {
    clean += text.slice(from, start) + placeholder(kind)
    from = end
    count(counts, kind)
  }
  return clean + text.slice(from)
}

function count(counts: RedactionCounts, kind: string): void {
  counts[kind] = (counts[kind] ?? 0) + 1
}
