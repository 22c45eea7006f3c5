import { isRecord } from '../json.ts'
import { toInstant } from '../reading/instants.ts'

export interface Tree {
  mapping?: unknown
  current_node?: unknown
  create_time?: unknown
}

export interface TreeNode {
  key: string
  node: Record<string, unknown>
}

/**
 * The nodes from the root to the message that was last shown. Edited questions and regenerated answers lie on other
 * branches and are left out. If the tree does not name its current node, the end with the latest message counts.
 */
export function currentBranch(tree: Tree): TreeNode[] {
  const mapping = isRecord(tree.mapping) ? tree.mapping : {}
  const nodeAt = (key: unknown): TreeNode | null => {
    if (typeof key !== 'string' || !Object.hasOwn(mapping, key)) return null
    const node = mapping[key]
    return isRecord(node) ? { key, node } : null
  }
  const branch: TreeNode[] = []
  const seen = new Set<string>()
  let at = nodeAt(tree.current_node) ?? nodeAt(latestEnd(mapping))
  // A damaged tree may contain a cycle.
  while (at !== null && !seen.has(at.key)) {
    seen.add(at.key)
    branch.push(at)
    at = nodeAt(at.node.parent)
  }
  return branch.reverse()
}

/** Key of the leaf with the latest message; if several are equally late, the last in the file. */
function latestEnd(mapping: Record<string, unknown>): string | undefined {
  const nodes = Object.entries(mapping).filter((entry): entry is [string, Record<string, unknown>] =>
    isRecord(entry[1]),
  )
  const parents = new Set(nodes.map(([, { parent }]) => parent))
  let latest: { key: string; at: string } | undefined
  for (const [key, { message }] of nodes) {
    if (parents.has(key)) continue
    const at = (isRecord(message) ? toInstant(message.create_time) : undefined) ?? ''
    if (latest === undefined || at >= latest.at) latest = { key, at }
  }
  return latest?.key ?? nodes.at(-1)?.[0]
}
