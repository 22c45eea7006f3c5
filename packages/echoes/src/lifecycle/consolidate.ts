import type { Clock } from '@recall/core'
import { dayOf } from '../documents/day.ts'
import {
  appendTexts,
  type EchoBlock,
  emptyEchoes,
  printEchoes,
  upgradeEchoes,
} from '../documents/echo-document.ts'
import { identify, identifyMoved, type KnownEcho } from '../documents/sidecar.ts'
import {
  backupChange,
  type LoadedRole,
  loadRole,
  memoryChange,
  sidecarChange,
  waitingAgents,
} from '../files/role-folder.ts'
import { applyChanges, type FileChange, isChangedMeanwhile } from '../files/transaction.ts'
import { activeWorkflows } from '../files/workflows.ts'
import { readFindings } from './findings.ts'
import { mergeFindings } from './merge-findings.ts'
import { type PrunePlan, type PrunePolicy, planPrune } from './plan-prune.ts'
import { pruneChanges } from './prune.ts'

export interface Consolidation {
  role: string
  added: number
  /** Findings that repeat an entry or another finding, whose verified day, confidence and layer they may raise. */
  merged: number
  /** What stayed in findings files, and why: blocks, and whole files that cannot be read. */
  kept: { agent: string; line: number; reasons: string[] }[]
  /** Entries from which sensitive data was removed, and its kinds. */
  stripped: { title: string; kinds: string[] }[]
  /**
   * What was pruned; `null` when the memory is within its limit, a workflow is active, or somebody is just writing it.
   */
  pruned: PrunePlan | null
}

interface Run {
  /** Report only. */
  dryRun: boolean
  policy: PrunePolicy
  clock: Clock
}

/**
 * Merges all waiting findings of a role into its memory, removes them from their files, and prunes the memory if
 * needed. Call it under the lock.
 */
export function consolidate(root: string, role: string, { dryRun, policy, clock }: Run): Consolidation {
  const loaded = loadRole(root, role)
  const findings = waitingAgents(root, role).map((agent) => readFindings(root, role, agent))
  const ready = findings.flatMap((each) => each.ready)
  const current = upgradeEchoes(loaded.document)
  const merged = mergeFindings(
    current,
    ready.map(({ block }) => block),
  )
  const document = ready.length > 0 ? merged.document : loaded.document
  const before = identify(current, loaded.sidecar)
  const raised = merged.raised.map((at) => [at, (before.echoes[at] as KnownEcho).id] as const)
  const { echoes, sidecar } = identifyMoved(document, before.sidecar, new Map(raised))
  if (!dryRun && findings.length > 0) {
    const written = ready.length > 0 ? [memoryChange(loaded, document), sidecarChange(role, sidecar)] : []
    const emptied = findings.flatMap(({ path, left, seen }): FileChange[] =>
      seen === null ? [] : [{ path, content: left, seen }],
    )
    applyChanges(root, [...differingChanges(root, role, merged.differing, clock), ...written, ...emptied])
  }
  const after = dryRun
    ? { ...loaded, text: printEchoes(document), document, echoes, sidecar }
    : loadRole(root, role)
  const plan = prunable(root, after, { policy, clock })
  const pruned = plan && (dryRun || hasPruned(root, after, plan)) ? plan : null
  return {
    role,
    added: merged.added,
    merged: merged.merged,
    kept: findings.flatMap(({ agent, kept, problem }) => [
      ...(problem === undefined ? [] : [{ agent, line: 1, reasons: [problem] }]),
      ...kept.map(({ block, reasons }) => ({ agent, line: block.line, reasons })),
    ]),
    stripped: ready.flatMap(({ block, stripped }) =>
      stripped.length > 0 ? [{ title: block.entry?.title ?? '', kinds: stripped }] : [],
    ),
    pruned,
  }
}

/** The change that keeps duplicates with another learning in `archive/`. */
function differingChanges(
  root: string,
  role: string,
  differing: readonly EchoBlock[],
  clock: Clock,
): FileChange[] {
  if (differing.length === 0) return []
  const texts = differing.map(({ text }) => text)
  const text = printEchoes(appendTexts(emptyEchoes(role), texts))
  return [backupChange(root, role, 'findings', text, dayOf(clock())).change]
}

/** Pruning can wait until the next time, whereas repeating everything would report that nothing was added. */
function hasPruned(root: string, role: LoadedRole, plan: PrunePlan): boolean {
  try {
    applyChanges(root, pruneChanges(root, role, plan))
    return true
  } catch (error) {
    if (isChangedMeanwhile(error)) return false
    throw error
  }
}

function prunable(
  root: string,
  role: LoadedRole,
  { policy, clock }: Pick<Run, 'policy' | 'clock'>,
): PrunePlan | null {
  if (activeWorkflows(root).length > 0) return null
  const plan = planPrune(role, clock(), policy)
  return plan.steps.length > 0 ? plan : null
}
