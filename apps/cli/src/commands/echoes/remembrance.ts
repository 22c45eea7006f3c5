import { join } from 'node:path'
import { MemoryError, MemoryErrorCode, redactText } from '@recall/core'
import {
  findRemembrance,
  type KnownEcho,
  type PromotionDetails,
  planPromotion,
  promoteEcho,
  type Remembrance,
  type RemembranceCategory,
  remembranceCategories,
} from '@recall/echoes'
import { sha256 } from '../../digest.ts'
import { exitCodes, UsageError } from '../../exit-codes.ts'
import { splitTags } from '../../split-tags.ts'
import { printable } from '../../terminal/printable.ts'
import {
  docsOf,
  type EchoesOptions,
  findEcho,
  type Project,
  parseReference,
  print,
  toApply,
} from './project.ts'

const isCategory = (text: string | undefined): text is RemembranceCategory =>
  (remembranceCategories as readonly string[]).includes(text ?? '')

/** Lists the documents of a category, or those that contain all words of a search. */
export async function remembrance(project: Project, args: string[], options: EchoesOptions): Promise<number> {
  const [first, ...rest] = args
  const category = isCategory(first) ? first : undefined
  const search = (category ? rest : args).join(' ')
  const { documents, problems } = findRemembrance(docsOf(project, options), {
    search,
    ...(category ? { category } : {}),
  })
  const named = [...problems, ...documents.flatMap(({ problem }) => problem ?? [])]
  for (const problem of named) project.io.err(`recall: ${printable(problem)}\n`)
  const found = documents.map(({ path, remembrance: matter }) => ({ path, ...matter }))
  print(project.io, options.json, { documents: found, problems: named }, () =>
    found.length === 0 ? 'No document fits.\n' : found.map(linesOf).join(''),
  )
  if (problems.length > 0) return exitCodes.failed
  return found.length > 0 ? exitCodes.fine : exitCodes.no
}

function linesOf({ path, ...matter }: Remembrance & { path: string }): string {
  const { title, category, tags, date, symptom, solution_summary: solution } = matter
  const listed = tags.length > 0 ? `tags ${tags.join(', ')}; ` : ''
  const about = `${category}; ${listed}confidence ${matter.confidence}; verified by ${matter.verified_by}; ${date}`
  return `${path}\n  ${title}\n  ${about}\n  ${symptom}\n  → ${solution}\n`
}

/**
 * Promotes an etched echo to a document for people. The category `security` needs the consent of a person at the
 * terminal.
 */
export async function promote(
  project: Project,
  [reference]: string[],
  options: EchoesOptions,
): Promise<number> {
  const { io, askHuman } = project
  const { role, echo } = await echoOf(project, reference)
  const folder = docsOf(project, options)
  const details = detailsOf(options)
  const { documents, problems } = findRemembrance(folder)
  // An unreadable document may be a duplicate of this echo, so it is reported.
  for (const problem of problems) io.err(`recall: not compared: ${problem}\n`)
  const promotion = options.yes
    ? await promoteEcho({ folder, askHuman }, role, echo, details)
    : planPromotion(role, echo, details, documents)
  const applied = options.yes && promotion.decision === 'promote'
  print(io, options.json, { applied, promotion }, () => {
    const { decision, reasons, path } = promotion
    const why = reasons.map((reason) => `  ${reason}\n`).join('')
    if (decision === 'skip') return `Not promoted:\n${why}`
    if (decision === 'promote') return `${join(folder, path)}\n${toApply(applied)}`
    return options.yes
      ? `Blocked:\n${why}`
      : `${join(folder, path)}\n${why}\nRun the same with --yes, at a terminal, to be asked.\n`
  })
  return applied || (!options.yes && promotion.decision !== 'skip') ? exitCodes.fine : exitCodes.no
}

function detailsOf({ texts, actionable }: EchoesOptions): PromotionDetails {
  if (!isCategory(texts.category))
    throw new UsageError(`--category takes ${remembranceCategories.join(', ')}`)
  return {
    category: texts.category,
    tags: splitTags(texts.tags),
    symptom: texts.symptom ?? '',
    root_cause: texts['root-cause'] ?? '',
    solution_summary: texts.solution ?? '',
    actionable,
  }
}

/** @throws MemoryError NOT_FOUND; CONFLICT when the reference has a hash and the entry has changed since */
export async function echoOf(
  { echoes }: Project,
  reference: string | undefined,
): Promise<{ role: string; echo: KnownEcho }> {
  const { role, id, hash } = parseReference(reference)
  const echo = await findEcho(echoes, role, id)
  const { text } = redactText(echo.block.text.replaceAll('\r\n', '\n').trim())
  if (hash !== undefined && hash !== sha256(text))
    throw new MemoryError(
      `${role}/${id} says something else now: look at it, then name it without the hash`,
      MemoryErrorCode.CONFLICT,
    )
  return { role, echo }
}
