import { isRecord } from '../json.ts'
import { countInto } from '../reading/skipped.ts'
import { type ImportedMemory, type MemoryExport, text, textList } from './imported-memory.ts'

const source = 'mcp-memory'

/** Whether a line belongs to the file of the reference MCP memory server. */
export const isGraphLine = (value: unknown): boolean =>
  isRecord(value) && (value.type === 'entity' || value.type === 'relation')

export const isGraphDocument = (value: unknown): value is { entities: unknown[]; relations: unknown[] } =>
  isRecord(value) && Array.isArray(value.entities) && Array.isArray(value.relations)

/** Reads the graph's observations and relations, one memory each. The format has no times. */
export function readGraph(items: readonly unknown[]): MemoryExport {
  const skipped: Record<string, number> = {}
  const count = countInto(skipped)
  const skip = (reason: string): ImportedMemory[] => {
    count(reason)
    return []
  }
  const records = items.flatMap((item): ImportedMemory[] => {
    if (!isRecord(item)) return skip('line that is not an object')
    const from = text(item.from ?? item.from_id)
    const to = text(item.to ?? item.to_id)
    if (from && to) {
      const relation = text(item.relationType ?? item.relation_type) ?? 'relates to'
      const id = `relation:${from}|${relation}|${to}`
      return [{ source, id, text: `${from} ${relation} ${to}`, tags: [from, to], type: 'relation' }]
    }
    const name = text(item.name ?? item.entityName ?? item.id)
    if (!name) return skip('entity without a name')
    const kind = text(item.entityType ?? item.entity_type)
    const observations = textList(item.observations)
    const given = Array.isArray(item.observations) ? item.observations.length : observations.length
    for (let left = given - observations.length; left > 0; left--) count('observation that is not a text')
    if (observations.length === 0) return skip('entity without observations')
    return observations.map((observation) => ({
      source,
      id: `observation:${name}|${observation}`,
      text: `${name}: ${observation}`,
      tags: [name, ...(kind ? [kind] : [])],
      type: 'observation',
    }))
  })
  return { format: 'MCP memory server graph', records, skipped }
}
