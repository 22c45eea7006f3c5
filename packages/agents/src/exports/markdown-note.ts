import { basename } from 'node:path'
import { isDeepYaml } from '@recall/core/text'
import { type Document, parseDocument, visit } from 'yaml'
import { isRecord } from '../json.ts'
import { toInstant } from '../reading/instants.ts'
import { hasNestedKeys } from '../yaml.ts'
import { type ImportedMemory, type MemoryExport, text, textList } from './imported-memory.ts'

const longestFrontMatter = 64 * 1024

/**
 * Reads a note of basic-memory, Obsidian or any folder of markdown as one memory. Its tags come from the front matter
 * and from its observations; further properties of the front matter are added below its text.
 *
 * @param path relative to the imported folder; the note's id when it has no permalink
 */
export function readMarkdownNote(markdown: string, path: string): MemoryExport {
  const { fields, body, problem } = split(markdown.replaceAll('\r\n', '\n'))
  const stem = path.replace(/\.(?:md|markdown)$/i, '')
  const title = text(fields.title) ?? text(fields.name) ?? basename(stem)
  const said = body.trim()
  const whole = [said, propertiesOf(fields)].filter((part) => part !== '').join('\n\n')
  const project = text(fields.project)
  // The file's own time changes with every edit and copy.
  const [at] = [fields.created, fields.date, fields.modified].flatMap((time) => toInstant(dateOf(time)) ?? [])
  const record: ImportedMemory = {
    source: isOfBasicMemory(fields, said) ? 'basic-memory' : 'markdown',
    id: text(fields.permalink) ?? stem,
    isFile: true,
    text: whole.startsWith('# ') ? whole : `# ${title}\n\n${whole}`,
    tags: [...new Set([...textList(fields.tags).map(bare), ...tagsIn(said)])],
    type: text(fields.type) ?? 'note',
    ...(at ? { at } : {}),
    ...(project ? { project } : {}),
  }
  return {
    format: 'markdown note',
    records: whole === '' ? [] : [record],
    skipped: {
      ...(whole === '' ? { 'empty note': 1 } : {}),
      ...(problem ? { 'unreadable front matter, kept as text': 1 } : {}),
    },
  }
}

/**
 * basic-memory gives its notes a permalink, unless told not to, and their observations a category: `- [method] Pour
 * slowly`.
 */
const isOfBasicMemory = (fields: Record<string, unknown>, body: string): boolean =>
  text(fields.permalink) !== undefined || /^[ \t]*-[ \t]+\[(?!\[)[^[\]()\n]{2,}\][ \t]+\S/m.test(body)

/** Splits off the front matter. It is untrusted: if it is too long, is broken or has aliases, it stays text. */
function split(markdown: string): { fields: Record<string, unknown>; body: string; problem?: true } {
  const [opening = ''] = /^---[ \t]*\n/.exec(markdown) ?? []
  const beginning = markdown.slice(opening.length, opening.length + longestFrontMatter)
  const closing = opening === '' ? null : /^---[ \t]*$/m.exec(beginning)
  if (closing === null) return { fields: {}, body: markdown }
  const body = markdown.slice(opening.length + closing.index + closing[0].length + 1)
  const head = beginning.slice(0, closing.index)
  if (isDeepYaml(head)) return { fields: {}, body: markdown, problem: true }
  try {
    const document = parseDocument(head, { schema: 'core', prettyErrors: false })
    if (document.errors.length > 0 || hasNestedKeys(document))
      return { fields: {}, body: markdown, problem: true }
    keepAsWritten(document)
    const fields: unknown = document.toJS({ maxAliasCount: 0 }) ?? {}
    // Such lines may just as well set off a paragraph or a list.
    return isRecord(fields) ? { fields, body } : { fields: {}, body: markdown }
  } catch {
    return { fields: {}, body: markdown, problem: true }
  }
}

/** A version such as `1.10` or a code such as `00501` is a number only to YAML. */
function keepAsWritten(document: Document): void {
  visit(document, {
    Scalar(_, node) {
      if (node.value !== null) node.value = node.source
    },
  })
}

/**
 * Fields that have a place in an imported memory. A `date` may be that of a future event: it is added to the text as
 * well.
 */
const known = new Set(['title', 'name', 'permalink', 'tags', 'type', 'created', 'modified', 'project'])

/** The other fields, one per line, so that searches find them: `status: urgent`. */
const propertiesOf = (fields: Record<string, unknown>): string =>
  Object.entries(fields)
    .filter(([name]) => !known.has(name))
    .map(([name, value]) => [name, shown(value)])
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).filter(Boolean).join(', ')
  if (isRecord(value)) return JSON.stringify(value)
  return String(value ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** Tags of observations: `- [category] text #tag`, the category is optional. Tasks and lists of links do not count. */
function tagsIn(body: string): string[] {
  return [...body.matchAll(/^[ \t]*-[ \t]+(?![ \t]|\[[ x-]\]|\[\[|\[[^\]]*\]\()(.*)$/gm)].flatMap(
    ([, line = '']) =>
      [...line.matchAll(/(?:^|\s)#([\p{L}\p{M}\p{N}_/-]+)/gu)].map(([, tag]) => tag as string),
  )
}

const bare = (tag: string): string => tag.replace(/^#/, '')
/** A long number counts seconds or milliseconds; a short one is a year. */
const dateOf = (value: unknown): unknown =>
  typeof value === 'string' && /^\d{9,}$/.test(value) ? Number(value) : value
