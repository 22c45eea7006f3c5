import { isRecord } from '../content-blocks.ts'
import { toInstant } from '../instants.ts'

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
 * The nodes from the root to what was last shown; questions asked anew and answers given again are left on other
 * branches. Where the tree does not say which end that is, it is the one with the latest message.
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
  // A damaged tree may lead in a circle.
  while (at !== null && !seen.has(at.key)) {
    seen.add(at.key)
    branch.push(at)
    at = nodeAt(at.node.parent)
  }
  return branch.reverse()
}

/** Of the nodes that nothing follows, the one whose message is the latest; of equals the last. */
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
