import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import * as z from 'zod/mini'
import { isDay } from '../documents/day.ts'
import { readYaml } from '../documents/read-yaml.ts'
import { namesIn, readText } from '../files/files.ts'

export const remembranceCategories = [
  'build-errors',
  'test-failures',
  'runtime-errors',
  'configuration',
  'performance',
  'security',
  'architecture',
  'tooling',
] as const
export type RemembranceCategory = (typeof remembranceCategories)[number]

const text = z.string().check(z.trim(), z.minLength(1, 'must not be empty'))
const schema = z
  .object({
    title: text,
    category: z.enum(remembranceCategories),
    tags: z.array(text),
    date: z.string().check(z.refine(isDay, 'must be a day (YYYY-MM-DD)')),
    symptom: text,
    root_cause: text,
    solution_summary: text,
    echo_ref: z.optional(
      z
        .string()
        .check(z.regex(/^[\w./-]+#[a-z]+-\d{3,}@sha256:[0-9a-f]{64}$/, 'must name an echo and its hash')),
    ),
    confidence: z.enum(['high', 'medium']),
    verified_by: z.enum(['human', 'agent']),
    requires_human_approval: z.optional(z.boolean()),
  })
  .check(
    z.refine(({ category, verified_by }) => category !== 'security' || verified_by === 'human', {
      path: ['verified_by'],
      error: 'must be human for the category security',
    }),
  )

/** The front matter of a document of `docs/solutions`. */
export type Remembrance = z.output<typeof schema>

export interface RemembranceDocument {
  /** Below the folder of the documents, for example `performance/slow-user-list.md`. */
  path: string
  remembrance: Remembrance
  body: string
  /** Why its `echo_ref` names no echo. The document says what it says all the same. */
  problem?: string
}

/**
 * Reads a document. An `echo_ref` of another form, which a person or another tool may have written, is kept as it is.
 *
 * @throws MemoryError CORRUPTION naming what is wrong with its front matter
 */
export function parseRemembrance(content: string, path: string): RemembranceDocument {
  const [, head = '', body = ''] =
    /^\uFEFF?---\r?\n([\s\S]{0,65536}?)(?<=\n)---[ \t]*(?:\r?\n|$)([\s\S]*)$/.exec(content) ?? []
  const corrupt = (problem: string, cause?: unknown): MemoryError =>
    new MemoryError(`${path}: ${problem}`, MemoryErrorCode.CORRUPTION, { cause, details: { path } })
  let fields: unknown
  try {
    fields = readYaml(head)
  } catch (cause) {
    throw corrupt('the front matter is not YAML', cause)
  }
  const { data, error } = schema.safeParse(fields ?? {})
  if (data) return { path, remembrance: data, body }
  const [problem] = issuesOf(error).filter((issue) => issue.startsWith('echo_ref: '))
  if (problem === undefined) throw corrupt(issuesOf(error).join('; '), error)
  const { echo_ref, ...others } = fields as Record<string, unknown>
  const { data: remembrance, error: otherError } = schema.safeParse(others)
  if (!remembrance) throw corrupt(issuesOf(otherError).join('; '), otherError)
  if (typeof echo_ref === 'string') remembrance.echo_ref = echo_ref
  return { path, remembrance, body, problem: `${path}: ${problem}` }
}

/** @throws MemoryError INVALID_INPUT naming what is wrong */
export function printRemembrance(remembrance: Remembrance, body: string): string {
  const { data, error } = schema.safeParse(remembrance)
  if (!data) {
    const issues = issuesOf(error)
    throw new MemoryError(issues.join('; '), MemoryErrorCode.INVALID_INPUT, { details: { issues } })
  }
  const lines = Object.entries(data)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? printList(value) : JSON.stringify(value)}\n`)
  return `---\n${lines.join('')}---\n\n${body.trim()}\n`
}

const printList = (items: readonly string[]): string =>
  `[${items.map((item) => JSON.stringify(item)).join(', ')}]`

const issuesOf = (error: z.core.$ZodError): string[] =>
  error.issues.map(({ path, message }) => `${path.join('.') || 'front matter'}: ${message}`)

/**
 * The documents of a folder, of one category or all, that contain every word of a search.
 *
 * @returns the documents, and in `problems` why others could not be read
 */
export function findRemembrance(
  folder: string,
  filter: { category?: RemembranceCategory | undefined; search?: string | undefined } = {},
): { documents: RemembranceDocument[]; problems: string[] } {
  const words = (filter.search ?? '').toLowerCase().split(/\s+/)
  const documents: RemembranceDocument[] = []
  const problems: string[] = []
  for (const category of remembranceCategories) {
    if (filter.category !== undefined && filter.category !== category) continue
    checkCategoryFolder(folder, category)
    for (const name of namesIn(join(folder, category)).filter((each) => each.endsWith('.md'))) {
      const path = `${category}/${name}`
      try {
        const content = readText(join(folder, path)) ?? ''
        if (!words.every((word) => content.toLowerCase().includes(word))) continue
        documents.push(parseRemembrance(content, path))
      } catch (error) {
        problems.push((error as Error).message)
      }
    }
  }
  return { documents, problems }
}

/** @throws MemoryError INVALID_INPUT for an unknown category, or one whose folder is a link */
export function checkCategoryFolder(folder: string, category: string): void {
  const known = (remembranceCategories as readonly string[]).includes(category)
  if (known && orAbsent(() => lstatSync(join(folder, category)))?.isSymbolicLink() !== true) return
  const problem = known
    ? `${join(folder, category)} is a link, which is not followed: put the folder itself there`
    : `the category must be one of ${remembranceCategories.join(', ')}`
  throw new MemoryError(problem, MemoryErrorCode.INVALID_INPUT)
}
