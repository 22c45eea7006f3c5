import type { Clock, LmProvider } from '@recall/core'
import type { EchoEntry } from './documents/entry.ts'
import type { EchoLayer } from './documents/layers.ts'
import type { RoleMemory } from './files/role-folder.ts'
import type { KnowledgePlan } from './lifecycle/compress-knowledge.ts'
import type { Consolidation } from './lifecycle/consolidate.ts'
import type { EditPlan, NewIds } from './lifecycle/edit.ts'
import type { EchoCheck } from './lifecycle/examine.ts'
import type { Migrated } from './lifecycle/migration.ts'
import type { PrunePlan, PrunePolicy } from './lifecycle/plan-prune.ts'

export interface EchoesOptions {
  /** The folder of the roles, for example `<project>/.recall/echoes`. */
  root: string
  /** Whether the caller leads the team: only the lead writes to the role `team`. */
  lead?: boolean | undefined
  /**
   * Asks the person at the terminal. Supply it only where a person is present: without it, everything that needs a
   * person's consent is refused.
   */
  askHuman?: ((question: string) => Promise<boolean>) | undefined
  policy?: PrunePolicy | undefined
  clock?: Clock | undefined
}

export interface Echoes {
  roles(): string[]
  /** A role's entries with their ids. */
  read(role: string): Promise<RoleMemory>
  /**
   * Adds an entry.
   *
   * @returns its id, and the kinds of sensitive data that were removed from it
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
  consolidate(role: string, options?: { dryRun?: boolean | undefined }): Promise<Consolidation>
  planPrune(role: string): Promise<PrunePlan>
  /**
   * @throws MemoryError CONFLICT while a workflow is active, or when the memory has changed since the plan was
   * made
   */
  applyPrune(plan: PrunePlan): Promise<void>
  /**
   * Restores what was pruned, shortened or removed.
   *
   * @returns false when there is nothing to restore
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
   * @returns the new ids of entries that were moved, by their earlier ones
   * @throws MemoryError FORBIDDEN when etched entries need a person's consent, CONFLICT when the memory has changed
   * since the plan was made
   */
  applyEdit(plan: EditPlan): Promise<NewIds>
  /**
   * Plans to shorten `knowledge.md`, with a model when one is given. A model answers differently each time, so its plan
   * is kept next to the file until it is applied.
   *
   * @param options.asShown return the kept plan, if the file has not changed since
   */
  planKnowledge(
    role: string,
    options?: { lm?: LmProvider | undefined; asShown?: boolean | undefined },
  ): Promise<KnowledgePlan>
  /**
   * Keeps a copy in `archive/knowledge-{date}.md`, then carries out the plan.
   *
   * @throws MemoryError CONFLICT when the file has changed since the plan was made
   */
  applyKnowledge(plan: KnowledgePlan): Promise<void>
  /**
   * Replaces old names of agents and concepts in the metadata of entries in all markdown files, archives included.
   * Copies of the changed files are kept in `.backups/`. Files that cannot be read are reported and stay.
   *
   * @param options.dryRun report only
   */
  migrate(
    renames: Readonly<Record<string, string>>,
    options?: { dryRun?: boolean | undefined },
  ): Promise<Migrated[]>
  /**
   * Records that a workflow used entries.
   *
   * @throws MemoryError INVALID_INPUT when the workflow has no name, or the ids are not a list of texts
   */
  reference(role: string, workflow: string, ids: readonly string[]): Promise<void>
  /**
   * Marks a workflow as active, as long as its process lives.
   *
   * @param pid of another process than this one; with `null` it is active until `endWorkflow`, whatever process ends
   */
  beginWorkflow(workflow: string, pid?: number | null): Promise<void>
  endWorkflow(workflow: string): Promise<void>
  activeWorkflows(): string[]
  /**
   * Checks the folder, and returns what a person should know about it.
   *
   * @param options.fix remove temporary files of killed processes; no other file is touched
   */
  examine(options?: { fix?: boolean | undefined }): Promise<EchoCheck[]>
}
