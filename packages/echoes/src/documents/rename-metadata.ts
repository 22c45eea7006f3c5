import { lineOfField, parseEchoes, withFields } from './echo-document.ts'

/** A replaced name in an entry's metadata. */
export interface Renamed {
  line: number
  field: 'source' | 'evidence'
  from: string
  to: string
}

/**
 * Replaces old names of agents and concepts by new ones in `source` and `evidence`, as whole words; learnings and
 * everything else stay unchanged. All names are replaced in one pass, so two names can be swapped.
 */
export function renameMetadata(
  text: string,
  renames: Readonly<Record<string, string>>,
): { text: string; renamed: Renamed[] } {
  const names = Object.keys(renames).filter((name) => name !== '')
  if (names.length === 0) return { text, renamed: [] }
  const longestFirst = names.sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
  const escaped = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{M}\\p{N}_-])(?:${escaped.join('|')})(?![\\p{L}\\p{M}\\p{N}_-])`,
    'gu',
  )
  const renamed: Renamed[] = []
  const blocks = parseEchoes(text).blocks.map((block) => {
    const { entry, line } = block
    if (!entry) return block.text
    const changes: { source?: string; evidence?: string } = {}
    for (const field of ['source', 'evidence'] as const) {
      const value = entry[field].replace(pattern, (from) => {
        const to = renames[from] ?? from
        if (to !== from) renamed.push({ line: line + lineOfField(block, field), field, from, to })
        return to.replace(/\s+/g, ' ')
      })
      if (value !== entry[field]) changes[field] = value
    }
    return Object.keys(changes).length === 0 ? block.text : withFields(block, changes).text
  })
  return { text: blocks.join(''), renamed }
}
