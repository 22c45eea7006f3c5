import type { JsonObject, JsonValue } from '../json.ts'
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
  return { text: redactString(text, findAll, counts), counts }
}

/**
 * The text without secrets of a known kind, for keys, names and messages. What only looks random stays: a generated key
 * does, without being secret.
 */
export const withoutKnownSecrets = (text: string): string => redactString(text, findKnown, {})

/** `redactText` on every string and member name; a member's name can also say that its value is a secret. */
export function redactJson(value: JsonValue): { value: JsonValue; counts: RedactionCounts } {
  const counts: RedactionCounts = {}
  return { value: redactValue(value, '', counts), counts }
}

const findAll = secretFinder(detectors)
const findKnown = secretFinder(detectors.filter(({ kind }) => kind !== 'high-entropy'))
const findInCommand = secretFinder(ofCommands)

function redactValue(value: JsonValue, name: string, counts: RedactionCounts): JsonValue {
  if (typeof value === 'number') return redactNumber(value, name, counts)
  if (typeof value === 'string') {
    const kind = name === '' ? undefined : isSecretMember(name, value)
    if (kind === undefined && /authorization$/i.test(name)) return redactHeader(value, counts)
    if (kind === undefined) return redactString(value, isPublicName(name) ? findKnown : findAll, counts)
    count(counts, kind)
    return placeholder(kind)
  }
  if (Array.isArray(value)) return redactList(value, name, '', counts)
  if (value === null || typeof value !== 'object') return value
  const members = new Map<string, JsonValue>()
  for (const [key, member] of Object.entries(value)) {
    const clean = redactString(key, findKnown, counts)
    members.set(unused(clean, members), redactMember(value, key, member, name, counts))
  }
  return Object.fromEntries(members)
}

/** The least number that is judged: a PIN has four digits. */
const leastSecret = 1000

function redactNumber(value: number, name: string, counts: RedactionCounts): JsonValue {
  const isLong = name !== '' && Number.isInteger(value) && value >= leastSecret
  const kind = isLong ? isSecretMember(name, String(value)) : undefined
  if (kind === undefined) return value
  count(counts, kind)
  return placeholder(kind)
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
  const spans = merge(findInCommand(line))
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
  return redactString(name + value, findAll, counts).slice(name.length)
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

function redactString(text: string, find: (text: string) => Span[], counts: RedactionCounts): string {
  let clean = text
  // A replacement can expose another secret beside it; only a text made for that needs more than two rounds.
  for (let round = 0; round < 8; round++) {
    const spans = merge(find(clean))
    if (spans.length === 0) break
    clean = replaceSpans(clean, spans, counts)
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
