import { lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, type LmProvider, MemoryError, MemoryErrorCode, systemClock } from '@recall/core'
import { dayOf } from './documents/day.ts'
import { sha256 } from './documents/digest.ts'
import {
  appendTexts,
  type EchoBlock,
  emptyEchoes,
  parseEchoes,
  printEchoes,
  upgradeEchoes,
} from './documents/echo-document.ts'
import { type EchoEntry, normalizeEntry, printEntry } from './documents/entry.ts'
import type { EchoLayer } from './documents/layers.ts'
import { withoutSecrets } from './documents/sensitive.ts'
import { identify, type KnownEcho, withReferences } from './documents/sidecar.ts'
import { type EditPlan, editChanges, needsPerson, planMove, planRemoval } from './edit.ts'
import { namesIn, orAbsent, readText } from './files/files.ts'
import { withLock } from './files/lock.ts'
import { type Migrated, migrationChanges, roleOf } from './files/migration.ts'
import {
  backupChange,
  checkName,
  findingsPath,
  knowledgePath,
  knowledgePlanPath,
  type LoadedRole,
  loadRole,
  memoryChange,
  memoryPath,
  outdatedPlan,
  type RoleMemory,
  sidecarChange,
  teamRole,
  waitingAgents,
} from './files/role-folder.ts'
import {
  applyChanges,
  type FileChange,
  finishJournal,
  isChangedMeanwhile,
  isUnfinished,
} from './files/transaction.ts'
import { type KnowledgePlan, parseKnowledgePlan, planKnowledge } from './lifecycle/compress-knowledge.ts'
import { type EchoFinding, examine } from './lifecycle/examine.ts'
import { readFindings } from './lifecycle/findings.ts'
import { mergeFindings } from './lifecycle/merge-findings.ts'
import { defaultPrunePolicy, type PrunePlan, type PrunePolicy, planPrune } from './lifecycle/plan-prune.ts'
import { pruneChanges, restoreChanges } from './lifecycle/prune.ts'
import { activeWorkflows, forgetWorkflow, noteWorkflow } from './workflows.ts'

export interface EchoesOptions {
  /** The folder of the roles, for example `<project>/.recall/echoes`. */
  root: string
  /** Whether the caller leads the team: only the lead writes to the role `team`. */
  lead?: boolean
  /**
   * Asks the person at the terminal. Supply it only where a person is present: without it, everything that needs a
   * person's consent is refused.
   */
  askHuman?: (question: string) => Promise<boolean>
  policy?: PrunePolicy
  clock?: Clock
}

export interface Consolidation {
  role: string
  added: number
  /** Findings that repeat an entry or another finding, whose verified day and confidence they may raise. */
  merged: number
  /** What stayed in findings files, and why: blocks, and whole files that cannot be read. */
  kept: { agent: string; line: number; reasons: string[] }[]
  /** Entries from which sensitive data was removed, and its kinds. */
  stripped: { title: string; kinds: string[] }[]
  /** What was pruned; `null` when the memory is within its limit or a workflow is active. */
  pruned: PrunePlan | null
}

export interface Echoes {
  roles(): string[]
  /** A role's entries with their ids. */
  read(role: string): Promise<RoleMemory>
  /**
   * Adds an entry.
   *
   * @returns its id, and the kinds of sensitive data that were taken out of it
   * @throws MemoryError FORBIDDEN for an etched entry without a person's consent, and for the team without the lead
   */
  add(role: string, entry: EchoEntry): Promise<{ id: string; stripped: string[] }>
  /** Writes a finding to `{agent}-findings.md`, where it waits to be consolidated. */
  appendFinding(role: string, agent: string, entry: EchoEntry): Promise<{ stripped: string[] }>
  /**
   * Merges all waiting findings of a role into its memory, removes them from their files, and prunes the memory if
   * needed.
   *
   * @param options.dryRun report only
   */
  consolidate(role: string, options?: { dryRun?: boolean }): Promise<Consolidation>
  planPrune(role: string): Promise<PrunePlan>
  /**
   * @throws MemoryError CONFLICT while a workflow is active, or when the memory has changed since the plan was
   * made
   */
  applyPrune(plan: PrunePlan): Promise<void>
  /**
   * Puts back what was pruned, shortened or removed.
   *
   * @returns false when there is nothing to put back
   * @throws MemoryError NOT_FOUND, CORRUPTION when its backup is gone, CONFLICT when a shortened entry was rewritten
   * since, FORBIDDEN for an etched entry without a person's consent
   */
  restoreEntry(role: string, id: string): Promise<boolean>
  /** Plans to move entries into the archive. Default: all entries that are not etched. */
  planRemoval(role: string, ids?: readonly string[]): Promise<EditPlan>
  /** Plans to move an entry to another layer. */
  planMove(role: string, id: string, to: EchoLayer): Promise<EditPlan>
  /**
   * Carries out a plan of `planRemoval` or `planMove`, and keeps a copy of the memory in `archive/` first.
   *
   * @throws MemoryError FORBIDDEN when etched entries need a person's consent, CONFLICT when the memory has changed
   * since the plan was made
   */
  applyEdit(plan: EditPlan): Promise<void>
  /**
   * Plans to shorten `knowledge.md`, with a model when one is given. A model answers differently each time, so its plan
   * is kept beside the file until it is applied.
   *
   * @param options.asShown return the kept plan, if the file has not changed since
   */
  planKnowledge(role: string, options?: { lm?: LmProvider; asShown?: boolean }): Promise<KnowledgePlan>
  /**
   * Keeps a copy in `archive/knowledge-{date}.md`, then carries out the plan.
   *
   * @throws MemoryError CONFLICT when the file has changed since the plan was made
   */
  applyKnowledge(plan: KnowledgePlan): Promise<void>
  /**
   * Replaces old names of agents and concepts in the metadata of entries in all markdown files, archives included.
   * Copies of the changed files are kept in `.backups/`. What cannot be read is named and stays.
   *
   * @param options.dryRun report only
   */
  migrate(renames: Readonly<Record<string, string>>, options?: { dryRun?: boolean }): Promise<Migrated[]>
  /** Records that a workflow used entries. */
  reference(role: string, workflow: string, ids: readonly string[]): Promise<void>
  /** Marks a workflow as active, as long as its process lives. */
  beginWorkflow(workflow: string, pid?: number): Promise<void>
  endWorkflow(workflow: string): Promise<void>
  activeWorkflows(): string[]
  /**
   * Checks the folder, and returns what a person should know about it.
   *
   * @param options.fix remove temporary files of killed processes; no other file is touched
   */
  examine(options?: { fix?: boolean }): Promise<EchoFinding[]>
}

/** Attempts at a section while an editor, or an agent that writes its findings directly, changes the same files. */
const attempts = 5

/** Opens the memories of a team of agents. Several processes may write at once. */
export function openEchoes(options: EchoesOptions): Echoes {
  const { root, lead = false, askHuman, policy = defaultPrunePolicy, clock = systemClock } = options

  const locked = <T>(section: () => T): Promise<T> =>
    withLock(join(root, '.lock'), () => {
      finishJournal(root)
      for (let attempt = 1; ; attempt++) {
        try {
          return section()
        } catch (error) {
          if (!isChangedMeanwhile(error) || attempt === attempts) throw error
        }
      }
    })

  const mayWrite = (role: string): void => {
    checkName(role, 'role')
    if (role === teamRole && !lead) {
      throw new MemoryError(
        "only the lead writes to the memory of the team: say '--lead', in a program 'lead: true'",
        MemoryErrorCode.FORBIDDEN,
      )
    }
  }

  /** Call it before taking the lock: no process should wait while a person thinks. */
  const requireConsent = async (question: string): Promise<void> => {
    if ((await askHuman?.(question)) === true) return
    throw new MemoryError(
      'only a person adds etched entries, takes them out or moves them: say yes at a terminal',
      MemoryErrorCode.FORBIDDEN,
    )
  }

  /** The change that keeps duplicates with another learning in `archive/`. */
  const differingChanges = (role: string, differing: readonly EchoBlock[]): FileChange[] => {
    if (differing.length === 0) return []
    const texts = differing.map(({ text }) => text)
    const text = printEchoes(appendTexts(emptyEchoes(role), texts))
    return [backupChange(root, role, 'findings', text, dayOf(clock())).change]
  }

  const prunable = (role: LoadedRole): PrunePlan | null => {
    if (activeWorkflows(root).length > 0) return null
    const plan = planPrune(role, clock(), policy)
    return plan.steps.length > 0 ? plan : null
  }

  return {
    roles: () => rolesIn(root),

    async read(role) {
      checkName(role, 'role')
      const isNew = readText(join(root, memoryPath(role))) === null
      // A look at what is not there yet creates no folder for the lock.
      if (isNew && !isUnfinished(root)) return publicOf(loadRole(root, role))
      return locked(() => {
        const loaded = loadRole(root, role)
        applyChanges(root, [sidecarChange(role, loaded.sidecar)])
        return publicOf(loaded)
      })
    },

    async add(role, entry) {
      mayWrite(role)
      const { block, stripped } = cleaned(entry)
      if (entry.layer === 'etched')
        await requireConsent(`Add to the permanent memory of ${role}: ${entry.title}`)
      return locked(() => {
        const loaded = loadRole(root, role)
        const next = appendTexts(upgradeEchoes(loaded.document), [block.text])
        const { echoes, sidecar } = identify(next, loaded.sidecar)
        applyChanges(root, [memoryChange(loaded, next), sidecarChange(role, sidecar)])
        return { id: (echoes.at(-1) as KnownEcho).id, stripped }
      })
    },

    async appendFinding(role, agent, entry) {
      checkName(agent, 'agent')
      mayWrite(role)
      const { block, stripped } = cleaned(entry)
      return locked(() => {
        loadRole(root, role)
        const path = findingsPath(role, agent)
        const seen = readText(join(root, path))
        const document = parseEchoes(seen ?? '')
        applyChanges(root, [{ path, content: printEchoes(appendTexts(document, [block.text])), seen }])
        return { stripped }
      })
    },

    async consolidate(role, { dryRun = false } = {}) {
      if (!dryRun) mayWrite(role)
      return locked(() => {
        const loaded = loadRole(root, role)
        const findings = waitingAgents(root, role).map((agent) => readFindings(root, role, agent))
        const ready = findings.flatMap((each) => each.ready)
        const merged = mergeFindings(
          upgradeEchoes(loaded.document),
          ready.map(({ block }) => block),
        )
        const document = ready.length > 0 ? merged.document : loaded.document
        const { echoes, sidecar } = identify(document, loaded.sidecar)
        if (!dryRun && findings.length > 0) {
          const written =
            ready.length > 0 ? [memoryChange(loaded, document), sidecarChange(role, sidecar)] : []
          applyChanges(root, [
            ...differingChanges(role, merged.differing),
            ...written,
            ...findings.flatMap(({ path, left, seen }): FileChange[] =>
              seen === null ? [] : [{ path, content: left, seen }],
            ),
          ])
        }
        const after = dryRun
          ? { ...loaded, text: printEchoes(document), document, echoes, sidecar }
          : loadRole(root, role)
        const pruned = prunable(after)
        if (pruned && !dryRun) applyChanges(root, pruneChanges(root, after, pruned))
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
      })
    },

    planPrune: async (role) => locked(() => planPrune(loadRole(root, role), clock(), policy)),

    async applyPrune(plan) {
      mayWrite(plan.role)
      await locked(() => {
        const [active] = activeWorkflows(root)
        if (active !== undefined) {
          throw new MemoryError(
            `the workflow ${active} is active: prune once it has ended`,
            MemoryErrorCode.CONFLICT,
          )
        }
        applyChanges(root, pruneChanges(root, loadRole(root, plan.role), plan))
      })
    },

    async restoreEntry(role, id) {
      mayWrite(role)
      if (id.startsWith('etched-'))
        await requireConsent(`Put back into the permanent memory of ${role}: ${id}`)
      return locked(() => {
        const changes = restoreChanges(root, loadRole(root, role), id)
        applyChanges(root, changes)
        return changes.length > 0
      })
    },

    planRemoval: async (role, ids) =>
      locked(() => {
        const loaded = loadRole(root, role)
        const open = loaded.echoes.filter(({ entry }) => entry.layer !== 'etched').map(({ id }) => id)
        return planRemoval(loaded, ids ?? open, clock())
      }),

    planMove: async (role, id, to) => locked(() => planMove(loadRole(root, role), id, to, clock())),

    async applyEdit(plan) {
      mayWrite(plan.role)
      if (needsPerson(plan)) {
        const titles = plan.steps.map(({ id, title, to }) => `${id} (${title}) → ${to}`).join(', ')
        await requireConsent(`Change the permanent memory of ${plan.role}: ${titles}`)
      }
      await locked(() => applyChanges(root, editChanges(root, loadRole(root, plan.role), plan)))
    },

    async planKnowledge(role, { lm, asShown = false } = {}) {
      const path = knowledgePlanPath(role)
      const { text, shown } = await locked(() => {
        loadRole(root, role)
        const now = readText(join(root, knowledgePath(role))) ?? ''
        return { text: now, shown: parseKnowledgePlan(asShown ? readText(join(root, path)) : null, now) }
      })
      if (shown) return shown
      const plan = await planKnowledge(role, text, lm ? { lm } : {})
      if (lm && plan.blocks.length > 0)
        await locked(() => applyChanges(root, [{ path, content: JSON.stringify(plan) }]))
      return plan
    },

    async applyKnowledge(plan) {
      mayWrite(plan.role)
      await locked(() => {
        loadRole(root, plan.role)
        const path = knowledgePath(plan.role)
        const text = readText(join(root, path)) ?? ''
        if (text === plan.text) return
        if (sha256(text) !== plan.fingerprint) throw outdatedPlan(`knowledge of ${plan.role}`)
        const { change } = backupChange(root, plan.role, 'knowledge', text, dayOf(clock()))
        const shown = { path: knowledgePlanPath(plan.role), content: null }
        applyChanges(root, [change, { path, content: plan.text, seen: text }, shown])
      })
    },

    migrate: (renames, { dryRun = false } = {}) =>
      locked(() => {
        const { report, changes } = migrationChanges(root, rolesIn(root), renames, dayOf(clock()))
        if (dryRun) return report
        if (report.some(({ path, problem }) => !problem && roleOf(path) === teamRole)) mayWrite(teamRole)
        applyChanges(root, changes)
        return report
      }),

    async reference(role, workflow, ids) {
      checkName(role, 'role')
      await locked(() => {
        const { sidecar } = loadRole(root, role)
        applyChanges(root, [sidecarChange(role, withReferences(sidecar, workflow, ids, dayOf(clock())))])
      })
    },

    beginWorkflow: (workflow, pid = process.pid) => locked(() => noteWorkflow(root, workflow, pid)),
    endWorkflow: (workflow) => locked(() => forgetWorkflow(root, workflow)),
    activeWorkflows: () => activeWorkflows(root),

    examine: ({ fix = false } = {}) =>
      locked(() =>
        examine(root, rolesIn(root), {
          lineLimit: policy.lineLimit,
          active: activeWorkflows(root),
          fix,
        }),
      ),
  }
}

/** The folders with a memory, or with findings that wait to be consolidated. */
const rolesIn = (root: string): string[] =>
  namesIn(root).filter((name) => {
    if (name.startsWith('.') || statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() !== true)
      return false
    const hasMemory = orAbsent(() => lstatSync(join(root, memoryPath(name)))) !== null
    return hasMemory || waitingAgents(root, name).length > 0
  })

const publicOf = ({ role, text, echoes, problems, archived }: LoadedRole): RoleMemory => ({
  role,
  text,
  echoes,
  problems,
  archived,
})

/**
 * The entry as text, without sensitive data.
 *
 * @throws MemoryError INVALID_INPUT when the entry is not valid without them
 */
function cleaned(entry: EchoEntry): { block: EchoBlock; stripped: string[] } {
  const [block] = parseEchoes(printEntry(normalizeEntry(entry))).blocks
  const clean = withoutSecrets(block as EchoBlock)
  if (clean.block.entry) return clean
  const problems = clean.block.problems ?? ['it is no entry']
  throw new MemoryError(`this entry cannot be written: ${problems.join('; ')}`, MemoryErrorCode.INVALID_INPUT)
}
