import { isRecord } from '../json.ts'
import { toInstant } from '../reading/instants.ts'
import { countInto, type Skip } from '../reading/skipped.ts'
import { type ImportedMemory, type MemoryExport, text, textList } from './imported-memory.ts'

const source = 'mem0'

interface Document {
  items: unknown[]
  relations: unknown[]
}

/** Members that mark an object as a memory of mem0 when its text has a common name such as `text` or `content`. */
const marks = new Set(
  [
    'user_id',
    'agent_id',
    'app_id',
    'run_id',
    'created_at',
    'updated_at',
    'hash',
    'metadata',
    'categories',
    'score',
  ].flatMap((name) => [name, name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())]),
)

/** An answer of the service or (with relations) of the library, or an older plain list; `null` for anything else. */
export function mem0Document(value: unknown): Document | null {
  const isAnswer = isRecord(value) && Array.isArray(value.results)
  const items: unknown = isAnswer ? value.results : value
  if (!Array.isArray(items)) return null
  // A plain list of objects with an id and a text may be anything, unless they have a member typical of mem0.
  if (!items.some((item) => isMemory(item) && (isAnswer || isMarked(item)))) return null
  const relations = isAnswer && Array.isArray(value.relations) ? value.relations : []
  return { items, relations }
}

/** @param now milliseconds; memories that have expired by then are left out */
export function readMem0({ items, relations }: Document, now: number): MemoryExport {
  const skipped: Record<string, number> = {}
  const skip = countInto(skipped)
  const memories = items.flatMap((item) => memoryOf(item, now, skip) ?? [])
  const edges = relations.flatMap((relation) => edgeOf(relation, skip) ?? [])
  return { format: 'mem0', records: [...memories, ...edges], skipped }
}

function memoryOf(item: unknown, now: number, skip: Skip): ImportedMemory | undefined {
  const said = isRecord(item) ? textOf(item) : undefined
  const id = isRecord(item) ? text(item.id) : undefined
  if (!isRecord(item) || said === undefined || id === undefined) {
    skip('memory without text or id')
    return undefined
  }
  const expires = toInstant(item.expiration_date ?? item.expirationDate)
  if (expires !== undefined && Date.parse(expires) < now) {
    skip('memory that has expired')
    return undefined
  }
  const metadata = isRecord(item.metadata) ? item.metadata : {}
  const at = toInstant(item.created_at ?? item.createdAt)
  const project = text(item.app_id ?? item.appId)
  const type = text(metadata.type)
  return {
    source,
    id,
    text: said,
    tags: [...textList(item.categories), ...ownersOf(item)],
    ...(type ? { type } : {}),
    ...(project ? { project } : {}),
    ...(at ? { at } : {}),
  }
}

function edgeOf(relation: unknown, skip: Skip): ImportedMemory | undefined {
  const { source: from, relationship, destination: to } = isRecord(relation) ? relation : {}
  const parts = [text(from), text(relationship), text(to)]
  if (parts.includes(undefined)) {
    skip('relation without both its ends')
    return undefined
  }
  const [start = '', name = '', end = ''] = parts
  return {
    source,
    id: `relation:${parts.join('|')}`,
    text: `${start} ${name} ${end}`,
    tags: [start, end],
    type: 'relation',
  }
}

const isMemory = (item: unknown): item is Record<string, unknown> =>
  isRecord(item) && text(item.id) !== undefined && textOf(item) !== undefined

const isMarked = (item: Record<string, unknown>): boolean =>
  text(item.memory) !== undefined || Object.keys(item).some((name) => marks.has(name))

const textOf = (item: Record<string, unknown>): string | undefined =>
  [item.memory, item.data, item.text, item.content].map(text).find((said) => said !== undefined)

/** The owners of a memory as tags, because the memories of all owners are imported into one. */
function ownersOf(item: Record<string, unknown>): string[] {
  const owners = {
    user: item.user_id ?? item.userId,
    agent: item.agent_id ?? item.agentId,
    run: item.run_id ?? item.runId,
  }
  return Object.entries(owners).flatMap(([kind, id]) => (text(id) ? [`${kind}:${text(id)}`] : []))
}

/** With this a memory begins: its fields between two rules. A rule in its text has no fields below it. */
const heading = /^---\n((?:[a-z_]+:.*\n)+)---\n/m

/** Reads the markdown file that the plugin exports; `null` when the text is not one. */
export function readMem0Markdown(markdown: string): MemoryExport | null {
  const body = markdown.replaceAll('\r\n', '\n')
  if (!/^---\nid: /.test(body.trimStart())) return null
  const skipped: Record<string, number> = {}
  const skip = countInto(skipped)
  const records: ImportedMemory[] = []
  const [, ...parts] = body.split(heading)
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const memory = memoryWith(fieldsIn(parts[i] as string), (parts[i + 1] as string).trim())
    if (memory === null) skip('memory without text or id')
    else records.push(memory)
  }
  return records.length === 0 ? null : { format: 'mem0', records, skipped }
}

const fieldsIn = (lines: string): Map<string, string> =>
  new Map(
    lines
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  )

function memoryWith(fields: ReadonlyMap<string, string>, said: string): ImportedMemory | null {
  const id = fields.get('id')
  if (!id || !fields.has('created_at') || said === '') return null
  const at = toInstant(fields.get('created_at'))
  const type = text(fields.get('type'))
  return {
    source,
    id,
    text: said,
    tags: textList(fields.get('categories')),
    ...(type ? { type } : {}),
    ...(at ? { at } : {}),
  }
}
