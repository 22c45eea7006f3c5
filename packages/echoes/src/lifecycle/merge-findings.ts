import { laterDay } from '../documents/day.ts'
import {
  appendTexts,
  type EchoBlock,
  type EchoDocument,
  joinBlocks,
  restOf,
  withFields,
} from '../documents/echo-document.ts'
import { duplicateKey, type EchoEntry } from '../documents/entry.ts'
import { type EchoLayer, echoLayers } from '../documents/layers.ts'

export interface MergedFindings {
  document: EchoDocument
  added: number
  /** Duplicates: the same pattern on the same evidence. */
  merged: number
  /** Duplicates with another learning; the memory keeps its own. */
  differing: EchoBlock[]
  /** Positions, counted from 0, of the memory's entries that moved to a higher layer. */
  raised: number[]
}

type Finding = EchoBlock & { entry: EchoEntry }

/**
 * Merges findings, in the form that `standAlone` gives them, into a memory. A duplicate updates the entry's verified
 * day if it is later, and its confidence and layer if they are higher; a new finding is appended. The result does not
 * depend on the order of the findings, and merging them again changes nothing.
 */
export function mergeFindings(document: EchoDocument, findings: readonly EchoBlock[]): MergedFindings {
  const blocks = [...document.blocks]
  const standing = standingEntries(document)
  const fresh = new Map<string, EchoBlock>()
  const differing: EchoBlock[] = []
  let merged = 0
  for (const finding of findings.filter(isFinding).sort(inOrder)) {
    const key = duplicateKey(finding.entry)
    const at = standing.get(key)
    const other = at === undefined ? fresh.get(key) : blocks[at]
    if (!other) {
      fresh.set(key, finding)
      continue
    }
    merged += 1
    if (restOf(other) !== restOf(finding)) differing.push(finding)
    const joined = join(other, finding.entry)
    if (at === undefined) fresh.set(key, joined)
    else blocks[at] = joined
  }
  const texts = [...fresh.values()].map(({ text }) => text)
  const [before, after] = [layersOf(document.blocks), layersOf(blocks)]
  const raised = before.flatMap((layer, i) => (layer === after[i] ? [] : [i]))
  return { document: appendTexts(joinBlocks(blocks), texts), added: fresh.size, merged, differing, raised }
}

const layersOf = (blocks: readonly EchoBlock[]): EchoLayer[] =>
  blocks.flatMap(({ entry }) => (entry ? [entry.layer] : []))

/** Where each pattern is in a file; in its highest layer, if it occurs more than once. */
function standingEntries({ blocks }: EchoDocument): Map<string, number> {
  const standing = new Map<string, number>()
  const layerAt = (at: number | undefined): EchoLayer | undefined => blocks[at ?? -1]?.entry?.layer
  blocks.forEach(({ entry }, i) => {
    if (!entry) return
    const before = layerAt(standing.get(duplicateKey(entry)))
    if (!before || rankOf(entry.layer) < rankOf(before)) standing.set(duplicateKey(entry), i)
  })
  return standing
}

function join(block: EchoBlock, { verified, confidence, layer }: EchoEntry): EchoBlock {
  const { entry } = block
  if (!entry) return block
  // Only a person can make an entry etched.
  const isHigher = entry.layer === 'traced' && layer === 'inscribed'
  if (entry.verified >= verified && entry.confidence >= confidence && !isHigher) return block
  return withFields(block, {
    verified: laterDay(entry.verified, verified),
    confidence: Math.max(entry.confidence, confidence),
    ...(isHigher ? { layer } : {}),
  })
}

/** 0 for the highest layer. */
const rankOf = (layer: EchoLayer): number => echoLayers.indexOf(layer)

const isFinding = (block: EchoBlock): block is Finding => block.entry !== undefined

function inOrder(a: Finding, b: Finding): number {
  const less = (first: string, second: string): number => (first < second ? -1 : first > second ? 1 : 0)
  return (
    less(a.entry.date, b.entry.date) || rankOf(a.entry.layer) - rankOf(b.entry.layer) || less(a.text, b.text)
  )
}
