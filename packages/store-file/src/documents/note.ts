import { type Entry, type JsonObject, type JsonValue, MemoryError, MemoryErrorCode } from '@recall/core'
import { maxJsonDepth, searchableText } from '@recall/core/json'
import { longestTtl } from '@recall/core/stores'
import { fingerprint } from '@recall/core/text'
import { fileStem } from '../files/paths.ts'
import { type FileEntry, type FileTimes, parseTime, printTime, stringsOf } from './file-entry.ts'
import { isDamaged, maxFrontMatterLength, parseFrontMatter, updateFrontMatter } from './front-matter.ts'
import { isTooDeep } from './json-depth.ts'
import { keepingLineEnds, lineEndsOf } from './line-ends.ts'

/** Values larger than this are not copied into the index: filters read them from the file. */
const largestIndexedValue = 2048

/**
 * A plain entry as one markdown file: front matter, then the value. A string is the body verbatim (plus the line end
 * that every text file has); any other JSON goes into a fenced block.
 *
 * @param earlier the file that it replaces; what a person added to its front matter stays, and so do its line ends
 * @throws MemoryError INVALID_INPUT when the front matter would be too long to be read again, CORRUPTION when the front
 * matter of the earlier file cannot be read
 */
export const printNote = (entry: Entry, earlier = ''): string =>
  keepingLineEnds(earlier, (plain) => printAfter(plain, entry))

function printAfter(earlier: string, entry: Entry): string {
  const { value } = entry
  // A trailing carriage return would be read as part of the line end that follows it.
  const asText = typeof value === 'string' && value.isWellFormed() && !value.endsWith('\r')
  const ownText = asText ? value : searchableText(value)
  const body = `${asText ? value : printFenced(value)}\n`
  const fields = {
    key: entry.key,
    namespace: entry.namespace === 'default' ? undefined : entry.namespace,
    type: entry.type ?? undefined,
    tags: entry.tags.length > 0 ? [...entry.tags] : undefined,
    created: printTime(entry.createdAt),
    updated: printTime(entry.updatedAt),
    ttl: entry.ttl ?? undefined,
    expires: entry.expiresAt === null ? undefined : printTime(entry.expiresAt),
    format: asText ? undefined : 'json',
    indexed: entry.text === '' && ownText !== '' ? false : undefined,
    text: entry.text !== '' && entry.text !== ownText ? entry.text : undefined,
  }
  const head = updateFrontMatter(earlier, { ...fields, hash: hashOf(fields, body) }, entry.key)
  if (head.length > maxFrontMatterLength) {
    throw new MemoryError(
      `key, tags and text of '${entry.key.slice(0, 80)}' take ${head.length} characters, and only ${maxFrontMatterLength} can be read again`,
      MemoryErrorCode.INVALID_INPUT,
      { scope: entry.scope, key: entry.key },
    )
  }
  return head + body
}

/** Reads a note, hand-written ones included: without front matter its name is the key and its text the value. */
export function parseNote(content: string, stem: string, { modified }: FileTimes): FileEntry {
  const { fields, body: verbatim, bodyLine, problem } = parseFrontMatter(content)
  const body = lineEndsOf(content)(verbatim)
  const own = body.replace(/\r?\n$/, '')
  const parsed = fields.format === 'json' ? parseFenced(own) : own
  const value = parsed === undefined ? own : parsed
  const text = textOf(fields, value)
  const created = parseTime(fields.created) ?? modified
  const written = parseTime(fields.updated) ?? modified
  const updated = updatedOf(fields, body, { written, modified })
  const ttl = isLifetime(fields.ttl) ? fields.ttl : null
  // A key is looked up in the one file that bears its name, so a file cannot claim a key of another name.
  const key = typeof fields.key === 'string' && fileStem(fields.key) === stem ? fields.key : stem
  const ownProblem = parsed === undefined ? unreadableJson : problemOf(fields, key, stem)
  return {
    key,
    ...(fields.key === key ? {} : { named: true }),
    type: stringsOf(fields.type)[0] ?? null,
    tags: stringsOf(fields.tags),
    value,
    text,
    created,
    updated,
    ttl,
    expires: expiryOf(parseTime(fields.expires), ttl, { written, updated }),
    line: bodyLine,
    ...(text === value ? {} : { derived: true }),
    fields: indexable(value),
    ...(typeof fields.namespace === 'string' ? { namespace: fields.namespace } : {}),
    ...((problem ?? ownProblem) ? { problem: problem ?? ownProblem } : {}),
  }
}

/**
 * When a note expires. An edit extends it as a write does, unless the line `expires` was edited, too: then it is no
 * longer as far from `updated` as when it was written.
 */
function expiryOf(
  stated: number | undefined,
  ttl: number | null,
  { written, updated }: { written: number; updated: number },
): number | null {
  if (ttl === null) return stated ?? null
  if (stated === undefined) return updated + ttl
  const isAsWritten = Math.abs(stated - written - ttl) < leewayMs
  return updated > written && isAsWritten ? updated + ttl : stated
}

/**
 * A version that follows another in the same millisecond gets a later `updated` than the time its expiry counts from.
 */
const leewayMs = 1000

/**
 * When a note was last changed. People who edit one seldom think of the line `updated`: the hash tells, and then the
 * note is as new as its file. One that lost its hash may have been edited or not: it keeps its time, but is another
 * version than the one that was written, so that a write which expects that one is refused.
 */
function updatedOf(
  fields: JsonObject,
  body: string,
  { written, modified }: { written: number; modified: number },
): number {
  if (typeof fields.hash !== 'string') return isOfStore(fields) ? written + 1 : written
  return fields.hash === hashOf(fields, body) ? written : Math.max(written, modified)
}

/** Whether the store may have written these fields, and so a hash: few people state all of them, to the millisecond. */
const isOfStore = ({ key, created, updated }: JsonObject): boolean =>
  key !== undefined && [created, updated].every((time) => time === printedAgain(time))

function printedAgain(time: JsonValue | undefined): string | null {
  const at = parseTime(time)
  return at === undefined ? null : printTime(at)
}

/** A hash of what a note says, regardless of YAML spelling and line ends. */
function hashOf(fields: Record<string, JsonValue | undefined>, body: string): string {
  const { type, tags, ttl, expires, format, indexed, text } = fields
  const facts = [type, tags, ttl, expires, format, indexed, text].map((fact) => fact ?? null)
  return fingerprint(`${JSON.stringify(facts)}\n${body.replaceAll('\r\n', '\n').trim()}`)
}

/** What is ignored in the front matter, because its value is not valid. */
function problemOf(fields: JsonObject, key: string, stem: string): string | undefined {
  const problems = [
    ...(String(fields.key ?? key) === key ? [] : [misnamed(stem)]),
    ...Object.entries(expected).flatMap(([name, { isFit, shouldBe }]) =>
      fields[name] === undefined || isFit(fields[name])
        ? []
        : [`its '${name}' is ignored: it should be ${shouldBe}`],
    ),
  ]
  return problems.length === 0 ? undefined : problems.join('; ')
}

const aTime = {
  isFit: (given: JsonValue): boolean => parseTime(given) !== undefined,
  shouldBe: 'a time, such as 2026-11-21T09:00:00Z',
}

const expected: Readonly<Record<string, { isFit: (given: JsonValue) => boolean; shouldBe: string }>> = {
  ttl: { isFit: (given) => isLifetime(given), shouldBe: 'a number of milliseconds above 0, at most 1e14' },
  created: aTime,
  updated: aTime,
  expires: aTime,
  text: { isFit: (given) => typeof given === 'string', shouldBe: 'a text, in quotes' },
  indexed: {
    isFit: (indexed) => /^(?:true|yes|on|1)$/i.test(String(indexed)) || !isIndexed({ indexed }),
    shouldBe: 'true or false',
  },
  format: {
    isFit: (format) => typeof format !== 'string' || format === 'json' || !/^json$/i.test(format),
    shouldBe: 'json, in small letters',
  },
}

/** As people write it: of YAML's older words for false, only `false` is one in its present version. */
const isIndexed = ({ indexed }: JsonObject): boolean => !/^(?:false|no|off|0)$/i.test(String(indexed))

const isLifetime = (ttl: JsonValue | undefined): ttl is number =>
  typeof ttl === 'number' && ttl > 0 && ttl <= longestTtl

const misnamed = (stem: string): string =>
  `its front matter has another key than its name: it is read as '${stem}'; give it its name back, or delete the line 'key'`

const unreadableJson = `format is json, but there is no fenced block of valid JSON, at most ${maxJsonDepth} levels deep`

/** @throws MemoryError CORRUPTION when the note says it holds JSON and does not, or its front matter is damaged */
export function requireValue(entry: FileEntry, path: string): FileEntry {
  const { key, problem } = entry
  const refuse = (message: string): never => {
    throw new MemoryError(`${path} ${message}`, MemoryErrorCode.CORRUPTION, { key, details: { path } })
  }
  if (problem === unreadableJson) {
    refuse(
      `does not hold the JSON it announces, at most ${maxJsonDepth} levels deep: mend the block, or delete the line 'format: "json"'`,
    )
  }
  if (problem !== undefined && isDamaged(problem)) {
    refuse(`does not tell what '${key}' is (${problem}): mend that, or delete the memory first`)
  }
  return entry
}

function textOf(fields: Record<string, JsonValue>, value: JsonValue): string {
  if (!isIndexed(fields)) return ''
  return typeof fields.text === 'string' ? fields.text : searchableText(value)
}

/** A text has no members that a filter could name; a large value is read from its file when a filter needs one. */
function indexable(value: JsonValue): JsonValue {
  if (typeof value === 'string') return ''
  return JSON.stringify(value).length <= largestIndexedValue ? value : null
}

/** A value as the body of a note. JSON never puts a backtick at the start of a line, so three are enough. */
export const printFenced = (value: JsonValue): string =>
  `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** The JSON value in the body of a note; `undefined` when there is none. */
export function parseFenced(body: string): JsonValue | undefined {
  const match = /^\s*```(?:json)?[ \t]*\r?\n([\s\S]*?)\r?\n```\s*$/.exec(body)
  try {
    const value = JSON.parse(match?.[1] ?? body) as JsonValue
    return isTooDeep(value) ? undefined : value
  } catch {
    return undefined
  }
}
