import type { JsonObject, JsonValue } from '../json.ts'
import { conversationType } from '../session-keys.ts'
import { detectors, isPublicName, isSecretCookie, isSecretMember, ofCommands } from './detectors.ts'
import { type Span, secretFinder } from './find-secrets.ts'
import { placeholder } from './placeholder.ts'

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
  return { text: redactString(text, findAll, counting(counts)), counts }
}

/**
 * The text without secrets of a known kind, for keys, names and messages. Text that only looks random stays: a
 * generated key looks so without being secret.
 */
export const withoutKnownSecrets = (text: string): string => redactString(text, findKnown, () => {})

/** `redactText` on every string and member name; a member's name can also say that its value is a secret. */
export function redactJson(value: JsonValue): { value: JsonValue; counts: RedactionCounts } {
  const counts: RedactionCounts = {}
  return { value: redactValue(value, '', counting(counts)), counts }
}

/** Shorter lines of a secret occur in too many other words. */
const shortestPart = 4

/**
 * Returns a function that replaces the secrets in parts of a memory, such as its passages, including those that only
 * the whole reveals, by the name of a member or the first line of a table. An archived session was redacted as a whole
 * and is long, so each of its parts is judged by itself.
 */
export function redactPartsOf({
  value,
  type,
}: {
  value: JsonValue
  type: string | null
}): (part: string) => string {
  const placeholders = new Map<string, string>()
  const note: Note = (kind, secret) => {
    for (const line of secret.split(/\r?\n/).filter((each) => each.trim().length >= shortestPart)) {
      placeholders.set(line, placeholder(kind))
      // As escaped in JSON.
      placeholders.set(JSON.stringify(line).slice(1, -1), placeholder(kind))
    }
  }
  if (type !== conversationType) redactValue(value, '', note)
  // A secret may contain another one.
  const longestFirst = [...placeholders].sort(([a], [b]) => b.length - a.length)
  return (part) => {
    let clean = part
    for (const [secret, shown] of longestFirst) clean = clean.replaceAll(secret, () => shown)
    return redactText(clean).text
  }
}

/** Called with each secret that is replaced. */
type Note = (kind: string, secret: string) => void

const counting =
  (counts: RedactionCounts): Note =>
  (kind) => {
    counts[kind] = (counts[kind] ?? 0) + 1
  }

const findAll = secretFinder(detectors)
const findKnown = secretFinder(detectors.filter(({ kind }) => kind !== 'high-entropy'))
const findInCommand = secretFinder(ofCommands)

function redactValue(value: JsonValue, name: string, note: Note): JsonValue {
  if (typeof value === 'number') return redactNumber(value, name, note)
  if (typeof value === 'string') {
    const kind = name === '' ? undefined : isSecretMember(name, value)
    if (kind === undefined && /authorization$/i.test(name)) return redactHeader(value, note)
    if (kind === undefined) return redactString(value, isPublicName(name) ? findKnown : findAll, note)
    note(kind, value)
    return placeholder(kind)
  }
  if (Array.isArray(value)) return redactList(value, name, '', note)
  if (value === null || typeof value !== 'object') return value
  const members = new Map<string, JsonValue>()
  for (const [key, member] of Object.entries(value)) {
    const clean = redactString(key, findKnown, note)
    members.set(unused(clean, members), redactMember(value, key, member, name, note))
  }
  return Object.fromEntries(members)
}

/** The least number that is judged: a PIN has four digits. */
const leastSecret = 1000

function redactNumber(value: number, name: string, note: Note): JsonValue {
  const isLong = name !== '' && Number.isInteger(value) && value >= leastSecret
  const kind = isLong ? isSecretMember(name, String(value)) : undefined
  if (kind === undefined) return value
  note(kind, String(value))
  return placeholder(kind)
}

function redactMember(
  object: JsonObject,
  key: string,
  member: JsonValue,
  name: string,
  note: Note,
): JsonValue {
  const isValue = /^value$/i.test(key)
  const pair = nameIn(object)
  if (/cookies$/i.test(name) && (isValue || pair === undefined) && isSecretCookie(member)) {
    note('cookie', String(member))
    return placeholder('cookie')
  }
  const { command } = object
  if (Array.isArray(member) && typeof command === 'string') return redactList(member, key, command, note)
  return redactValue(member, isValue ? (pair ?? name) : key, note)
}

function redactList(list: JsonValue[], name: string, command: string, note: Note): JsonValue[] {
  const clean = list.map((item, i) => redactValue(item, optionAt(list, i - 1) ?? name, note))
  return clean.every((item) => typeof item === 'string') ? redactArguments(command, clean, note) : clean
}

/** Hides the secrets in a command's arguments, each of which is one word of its line, whatever it holds. */
function redactArguments(command: string, list: readonly string[], note: Note): string[] {
  const line = [command, ...list].map((word) => word.replace(/[\s|;&]/g, '_')).join(' ')
  const spans = merge(findInCommand(line))
  let end = command.length + 1
  let next = 0
  return list.map((argument) => {
    const start = end
    end += argument.length + 1
    while ((spans[next]?.start ?? end) < start) next++
    const span = spans[next]
    if (!span || span.start >= end) return argument
    note(span.kind, argument.slice(span.start - start))
    return argument.slice(0, span.start - start) + placeholder(span.kind)
  })
}

/** After a scheme comes a secret that only the header's name reveals, so it is read as on a line with that name. */
function redactHeader(value: string, note: Note): string {
  const name = 'authorization: '
  return redactString(name + value, findAll, note).slice(name.length)
}

/** The option of a command whose value is the next item of its arguments, such as `--password`. */
function optionAt(list: readonly JsonValue[], i: number): string | undefined {
  const item = list[i]
  return typeof item === 'string' && /^--?[\w-]+$/.test(item) ? item : undefined
}

/** The name that another member gives to a value, as in `{"name": "PASSWORD", "value": "…"}`. */
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

function redactString(text: string, find: (text: string) => Span[], note: Note): string {
  let clean = text
  // A replacement can expose another secret next to it; only a text made for that needs more than two rounds.
  for (let round = 0; round < 8; round++) {
    const spans = merge(find(clean))
    if (spans.length === 0) break
    clean = replaceSpans(clean, spans, note)
  }
  return clean
}

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

function replaceSpans(text: string, spans: readonly Span[], note: Note): string {
  let clean = ''
  let from = 0
  for (const { start, end, kind } of spans) {
    clean += text.slice(from, start) + placeholder(kind)
    from = end
    note(kind, text.slice(start, end))
  }
  return clean + text.slice(from)
}
