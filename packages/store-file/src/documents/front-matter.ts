import { type JsonObject, type JsonValue, MemoryError, MemoryErrorCode } from '@recall/core'
import { equalJson, isJsonObject } from '@recall/core/json'
import { isDeepYaml } from '@recall/core/text'
import type { Pair, Scalar } from 'yaml'
import { loadYaml, printField, withFields, yamlOptions, yamlWord } from './front-matter-lines.ts'
import { isTooDeep } from './json-depth.ts'

/** Larger front matter is not parsed: it is a mistake or an attack. */
export const maxFrontMatterLength = 64 * 1024

export interface MarkdownDocument {
  fields: JsonObject
  /** Everything after the closing line, or after a byte order mark where there is no front matter, verbatim. */
  body: string
  /** Line of the file on which the body begins, counted from 1. */
  bodyLine: number
  /** Why the front matter could not be read; the whole file is then the body. */
  problem?: string
}

/**
 * Splits a markdown file into YAML front matter and body. A file without front matter, or with front matter
 * that cannot be read, is all body: it stays searchable and is never rewritten from a guess.
 */
export function parseFrontMatter(text: string): MarkdownDocument {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0
  const opening = /^---[ \t]*\r?\n/.exec(text.slice(start, start + 16))
  const whole = { fields: {}, body: text.slice(start), bodyLine: 1 }
  if (!opening) return whole
  const begin = start + opening[0].length
  // Not with the flag `m`, for which lines also end at U+2028, an ordinary letter in texts.
  const closing = /(?<![^\n])---[ \t]*(?:\r?\n|$)/
  const head = text.slice(begin, begin + maxFrontMatterLength)
  const end = closing.exec(head)
  if (!end) {
    const problem =
      text.length - begin > maxFrontMatterLength
        ? 'front matter larger than 64 KB'
        : 'front matter never closed'
    return { ...whole, problem }
  }
  const source = head.slice(0, end.index)
  const fields = parseFields(source)
  if (typeof fields === 'string') return { ...whole, problem: fields }
  return {
    fields,
    body: text.slice(begin + end.index + end[0].length),
    bodyLine: countLines(source) + 3,
  }
}

/**
 * Prints front matter as one `name: value` line per field, each value in JSON, which is YAML as well. Fields that are
 * `undefined` or `null` are left out.
 */
export function printFrontMatter(fields: Record<string, JsonValue | undefined>): string {
  const lines = Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `${printField(name, value as JsonValue)}\n`)
  return `---\n${lines.join('')}---\n`
}

/**
 * Brings the front matter of a file up to date: prints those of the given fields that have changed as
 * `printFrontMatter` does, and keeps all others, the comments and a byte order mark as they are, to the letter.
 *
 * @param title what an error calls the file
 * @throws MemoryError CORRUPTION when it cannot be read: what a person wrote there would be lost
 */
export function updateFrontMatter(
  text: string,
  fields: Record<string, JsonValue | undefined>,
  title: string,
): string {
  const { fields: before, body, problem } = parseFrontMatter(text)
  if (problem !== undefined) {
    throw new MemoryError(
      `what is in the file of '${title.slice(0, 80)}' would be lost (${problem}): mend that, or delete the memory first`,
      MemoryErrorCode.CORRUPTION,
    )
  }
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  const head = text.slice(mark.length, text.length - body.length)
  const isPlain =
    head === printFrontMatter(before) && Object.keys(before).every((name) => Object.hasOwn(fields, name))
  if (head.trim() === '' || isPlain) return mark + printFrontMatter(fields)
  const source = head.slice(head.indexOf('\n') + 1, head.lastIndexOf('---'))
  const changes = Object.entries(fields)
    .map(([name, value]) => [name, value ?? null] as const)
    .filter(([name, value]) =>
      value === null ? Object.hasOwn(before, name) : !equalJson(before[name] ?? null, value),
    )
  return `${mark}---\n${withFields(source, new Map(changes))}---\n`
}

const notYaml = 'front matter is not YAML'

/**
 * Whether a problem of front matter, such as an unfinished merge, hides what the file says. Front matter that was never
 * closed, or that is not a list of fields, may just be lines between rules in an ordinary text.
 */
export const isDamaged = (problem: string): boolean => problem.startsWith(notYaml)

/** The fields, or what is wrong with them. */
function parseFields(source: string): JsonObject | string {
  const quick = parseJsonLines(source)
  if (quick) return quick
  if (isDeepYaml(source)) return 'front matter is nested too deep'
  const { isCollection, parseDocument, visit } = loadYaml()
  const { stackTraceLimit } = Error
  try {
    // A hostile text can cause an error per letter: skip computing a position for each.
    Error.stackTraceLimit = 0
    const document = parseDocument(source, yamlOptions)
    const [problem] = document.errors
    if (problem)
      return `${notYaml}: ${problem.message}, on line ${countLines(source.slice(0, problem.pos[0])) + 2}`
    let hasPlainNames = true
    visit(document, {
      Pair(_, { key }) {
        if (!isCollection(key)) return undefined
        hasPlainNames = false
        return visit.BREAK
      },
      Scalar(role, node, [, , field]) {
        if (role === 'key' || isNumeric((field as Pair<Scalar | null> | undefined)?.key?.value)) return
        if (typeof node.value === 'number' && String(node.value) !== node.source) node.value = node.source
      },
    })
    // A collection as a key is printed to become a name, which takes minutes at a few hundred levels.
    if (!hasPlainNames) return 'front matter has a list or a mapping for the name of a field'
    const fields: unknown = document.toJS({ maxAliasCount: 0 })
    if (fields === null || fields === undefined) return {}
    return isJsonObject(fields) ? fields : 'front matter is not a list of fields'
  } catch (error) {
    return `${notYaml}: ${(error as Error).message.split('\n')[0]}`
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Fields that hold numbers. In all others YAML may misread text as a number, such as the tag `3.10`. */
const isNumeric = (name: unknown): boolean =>
  name === 'ttl' || name === 'log' || name === 'part' || name === 'message_count'

const fieldLine = /^([A-Za-z_][A-Za-z0-9_-]*): (.+)$/
const plainWord = /^[A-Za-z][A-Za-z0-9_/.-]*(?: [A-Za-z0-9_/.-]+)*$/

/**
 * Reads the front matter that this store prints, and the plain words people type, 40 times faster than a YAML parser;
 * anything else is left to the parser. Property tests hold the two to the same answers.
 */
function parseJsonLines(source: string): JsonObject | undefined {
  const fields: JsonObject = {}
  for (const line of source.split('\n')) {
    if (line === '') continue
    const match = fieldLine.exec(line)
    const name = match?.[1] as string
    const text = match?.[2] as string
    if (!match || Object.hasOwn(fields, name) || name === '__proto__') return undefined
    if (plainWord.test(text)) {
      if (yamlWord.test(text)) return undefined
      fields[name] = text
      continue
    }
    const value = parseJson(text)
    if (value === undefined || isJsonObject(value) || isTooDeep(value)) return undefined
    if (!isNumeric(name) && mayBeSpelledOtherwise(value, text)) return undefined
    fields[name] = value
  }
  return fields
}

const mayBeSpelledOtherwise = (value: JsonValue, text: string): boolean =>
  Array.isArray(value)
    ? value.some((item) => typeof item !== 'string')
    : typeof value === 'number' && String(value) !== text

function parseJson(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function countLines(text: string): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
