import { isRecord } from '../content-blocks.ts'
import { toInstant } from '../instants.ts'
import { type ImportedMemory, type MemoryExport, text, textList } from './imported-memory.ts'

const source = 'mem0'

/** The memories in an answer of the service or in an older plain list; `null` when it is neither. */
export function mem0Items(value: unknown): unknown[] | null {
  const items = isRecord(value) ? value.results : value
  if (!Array.isArray(items) || items.length === 0) return null
  return items.every(
    (item) => isRecord(item) && typeof item.id === 'string' && text(item.memory ?? item.data) !== undefined,
  )
    ? items
    : null
}

/** @param now memories that have expired by then are left out, milliseconds */
export function readMem0(items: readonly unknown[], now: number): MemoryExport {
  const skipped: Record<string, number> = {}
  const records = items.filter(isRecord).flatMap((item): ImportedMemory[] => {
    const expires = toInstant(item.expiration_date ?? item.expirationDate)
    if (expires !== undefined && Date.parse(expires) < now) {
      skipped['memory that has expired'] = (skipped['memory that has expired'] ?? 0) + 1
      return []
    }
    const metadata = isRecord(item.metadata) ? item.metadata : {}
    const at = toInstant(item.created_at ?? item.createdAt)
    const project = text(item.app_id ?? item.appId)
    const type = text(metadata.type)
    return [
      {
        source,
        id: String(item.id),
        text: text(item.memory ?? item.data) ?? '',
        tags: textList(item.categories),
        ...(type ? { type } : {}),
        ...(project ? { project } : {}),
        ...(at ? { at } : {}),
      },
    ]
  })
  return { format: 'mem0', records, skipped }
}

const block = /^---\n((?:[a-z_]+:.*\n)+)---\n([\s\S]*?)(?=^---\n(?:[a-z_]+:.*\n)+---\n|(?![\s\S]))/gm

/** The markdown file that the plugin exports; `null` when a text is none. */
export function readMem0Markdown(markdown: string): MemoryExport | null {
  const body = markdown.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n')
  if (!/^---\nid: /.test(body.trimStart())) return null
  const records = [...body.matchAll(block)].flatMap(([, head = '', said = '']): ImportedMemory[] => {
    const fields = new Map(
      head
        .trim()
        .split('\n')
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const id = fields.get('id')
    const at = toInstant(fields.get('created_at'))
    const type = text(fields.get('type'))
    if (!id || !fields.has('created_at') || said.trim() === '') return []
    return [
      {
        source,
        id,
        text: said.trim(),
        tags: textList(fields.get('categories')),
        ...(type ? { type } : {}),
        ...(at ? { at } : {}),
      },
    ]
  })
  return records.length === 0 ? null : { format: 'mem0', records, skipped: {} }
}
