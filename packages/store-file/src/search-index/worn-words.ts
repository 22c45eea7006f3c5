import { type MemoryScope, memoryScopes } from '@recall/core'
import { fewestUnits } from '@recall/core/ranking'
import type { NamedFile } from './claims.ts'
import { filesPerTransaction } from './folder-walk.ts'
import type { SearchIndex } from './search-index.ts'

/**
 * The words of a scope are indexed again when more units than this were removed, as a share of those that are there:
 * the weight of a word is off by ln(1 + share) then. In a small scope that is soon done, and words are in many units
 * there, whose weights are small.
 */
const mostRemoved = (units: number): number => (units < 2000 ? units / 10 : units / 2)

/** Whether FTS5 counts so many removed units of a scope that its scores are off: see `countRemovedUnits`. */
export function isWorn(index: SearchIndex, scope: MemoryScope): boolean {
  const units = index.countUnits(scope)
  // In a smaller scope, searches do not use what FTS5 counts.
  return units >= fewestUnits && index.countRemovedUnits(scope) > mostRemoved(units)
}

/**
 * Indexes the words of worn scopes again. What a killed process leaves undone looks changed to the next one.
 *
 * @param indexPaths reads files into the index, given by their paths below the root
 * @param mostUnits larger scopes are left for another time
 */
export function renewWords(
  index: SearchIndex,
  indexPaths: (index: SearchIndex, paths: readonly string[]) => void,
  mostUnits = Number.POSITIVE_INFINITY,
): void {
  for (const scope of memoryScopes) {
    if (!isWorn(index, scope) || index.countUnits(scope) > mostUnits) continue
    const folders = index.folderPaths()
    const pathOf = ({ folder, name }: NamedFile): string => `${folders.get(folder)}/${name}`
    let paths: string[] = []
    index.transaction(() => {
      paths = index.dropWords(scope).map(pathOf)
      indexPaths(index, paths.splice(0, filesPerTransaction))
    })
    while (paths.length > 0) index.transaction(() => indexPaths(index, paths.splice(0, filesPerTransaction)))
  }
}
