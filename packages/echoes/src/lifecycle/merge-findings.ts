import { laterDay } from '../documents/day.ts'
import {
  appendTexts,
  type EchoBlock,
  type EchoDocument,
  parseEchoes,
  restOf,
  withFields,
} from '../documents/echo-document.ts'
import { type EchoEntry, entryKey } from '../documents/entry.ts'
import { echoLayers } from '../documents/layers.ts'

export interface MergedFindings {
  document: EchoDocument
  added: number
  /** Duplicates: the same pattern on the same evidence. */
  merged: number
  /** Duplicates with another learning; the memory keeps its own. */
  differing: EchoBlock[]
}

type Finding = EchoBlock & { entry: EchoEntry }

/**
 * Merges findings into a memory. A duplicate updates the entry's verified day if it is later, and its confidence if it
 * is higher; a new finding is appended. The result does not depend on the order of the findings, and merging them
 * again changes nothing.
 */
export function mergeFindings(document: EchoDocument, findings: readonly EchoBlock[]): MergedFindings {
  const blocks = [...document.blocks]
  const standing = new Map<string, number>()
  blocks.forEach(({ entry }, i) => {
    if (entry && !standing.has(entryKey(entry))) standing.set(entryKey(entry), i)
  })
  const fresh = new Map<string, EchoBlock>()
  const differing: EchoBlock[] = []
  let merged = 0
  for (const finding of findings.filter(isFinding).sort(inOrder)) {
    const key = entryKey(finding.entry)
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
  const kept = parseEchoes(blocks.map(({ text }) => text).join(''))
  const texts = [...fresh.values()].map(({ text }) => `${text.trimEnd()}\n`)
  return { document: appendTexts(kept, texts), added: fresh.size, merged, differing }
}

function join(block: EchoBlock, { verified, confidence }: EchoEntry): EchoBlock {
  const { entry } = block
  if (!entry || (entry.verified >= verified && entry.confidence >= confidence)) return block
  return withFields(block, {
    verified: laterDay(entry.verified, verified),
    confidence: Math.max(entry.confidence, confidence),
  })
}

const isFinding = (block: EchoBlock): block is Finding => block.entry !== undefined

function inOrder(a: Finding, b: Finding): number {
  const rank = ({ entry }: Finding): number => echoLayers.indexOf(entry.layer)
  const less = (first: string, second: string): number => (first < second ? -1 : first > second ? 1 : 0)
  return less(a.entry.date, b.entry.date) || rank(a) - rank(b) || less(a.text, b.text)
}
