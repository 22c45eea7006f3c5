import { lstatSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { invalidInput, MemoryError, MemoryErrorCode, systemClock } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import * as z from 'zod/mini'
import en from 'zod/v4/locales/en.js'
import { dayMs, dayOf } from './documents/day.ts'
import { sha256 } from './documents/digest.ts'
import {
  appendTexts,
  type EchoBlock,
  parseEchoes,
  printEchoes,
  upgradeEchoes,
} from './documents/echo-document.ts'
import { type EchoEntry, normalizeEntry, printEntry } from './documents/entry.ts'
import { withoutSecrets } from './documents/sensitive.ts'
import { identify, type KnownEcho, withReferences } from './documents/sidecar.ts'
import type { Echoes, EchoesOptions } from './echoes.ts'
import { namesIn, readText } from './files/files.ts'
import { withLock } from './files/lock.ts'
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
  noEntry,
  outdatedPlan,
  type RoleMemory,
  sidecarChange,
  teamRole,
  waitingAgents,
} from './files/role-folder.ts'
import { applyChanges, finishJournal, isChangedMeanwhile, isUnfinished } from './files/transaction.ts'
import { activeWorkflows, forgetWorkflow, isNoted, noteWorkflow, refusalOf } from './files/workflows.ts'
import { checkedKnowledge, parseKnowledgePlan, planKnowledge } from './lifecycle/compress-knowledge.ts'
import { consolidate } from './lifecycle/consolidate.ts'
import { checkedEdit, editChanges, needsPerson, planMove, planRemoval } from './lifecycle/edit.ts'
import { examine } from './lifecycle/examine.ts'
import { migrationChanges, roleOf } from './lifecycle/migration.ts'
import { defaultPrunePolicy, planPrune } from './lifecycle/plan-prune.ts'
import { checkPrune, pruneChanges } from './lifecycle/prune.ts'
import { restoreChanges } from './lifecycle/restore.ts'

/**
 * How often to try a section while an editor, or an agent that writes its findings directly, changes the same files.
 */
const attempts = 5

/**
 * Opens the memories of a team of agents. Several processes may write at once.
 *
 * @throws MemoryError INVALID_INPUT when the root is not a path, or another option is unknown or of the wrong type
 */
export function openEchoes(options: EchoesOptions): Echoes {
  // First, because an untyped program may pass no options.
  const root = rootOf(options?.root)
  checkOptions(options)
  const { lead = false, askHuman, policy = defaultPrunePolicy, clock = systemClock } = options

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
      "only a person adds, removes or moves etched entries: say yes at a terminal, in a program by 'askHuman'",
      MemoryErrorCode.FORBIDDEN,
    )
  }

  return {
    roles: () => rolesIn(root),

    async read(role) {
      checkName(role, 'role')
      const isNew = readText(join(root, memoryPath(role))) === null
      // Looking at a role that does not exist yet must not create a folder for the lock.
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
        const byPerson = entry.layer === 'etched'
        applyChanges(root, [memoryChange(loaded, next, { byPerson }), sidecarChange(role, sidecar)])
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
      return locked(() => consolidate(root, role, { dryRun, policy, clock }))
    },

    planPrune: async (role) =>
      locked(() => {
        const loaded = loadRole(root, role)
        const plan = planPrune(loaded, clock(), policy)
        // A new memory would begin with a heading, which is not there yet.
        return loaded.onDisk === null ? { ...plan, lines: 0, linesAfter: 0 } : plan
      }),

    async applyPrune(plan) {
      checkPrune(plan)
      mayWrite(plan.role)
      await locked(() => {
        const [active] = activeWorkflows(root)
        if (active !== undefined) {
          throw new MemoryError(refusalOf(active), MemoryErrorCode.CONFLICT)
        }
        applyChanges(root, pruneChanges(root, loadRole(root, plan.role), plan))
      })
    },

    async restoreEntry(role, id) {
      mayWrite(role)
      if (typeof id !== 'string') throw noEntry(role, String(id))
      if (id.startsWith('etched-')) await requireConsent(`Restore to the permanent memory of ${role}: ${id}`)
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

    async applyEdit(given) {
      const plan = checkedEdit(given)
      mayWrite(plan.role)
      if (needsPerson(plan)) {
        const titles = plan.steps.map(({ id, title, to }) => `${id} (${title}) → ${to}`).join(', ')
        await requireConsent(`Change the permanent memory of ${plan.role}: ${titles}`)
      }
      return locked(() => {
        const { changes, newIds } = editChanges(root, loadRole(root, plan.role), plan)
        applyChanges(root, changes)
        return newIds
      })
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
      // A model would write a different plan next time, so only the plan that was shown last is kept.
      const kept = lm && plan.blocks.length > 0 ? JSON.stringify(plan) : null
      await locked(() => {
        if (kept !== null || readText(join(root, path)) !== null)
          applyChanges(root, [{ path, content: kept }])
      })
      return plan
    },

    async applyKnowledge(given) {
      const plan = checkedKnowledge(given)
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
      checkReference(workflow, ids)
      await locked(() => {
        const { sidecar } = loadRole(root, role)
        applyChanges(root, [sidecarChange(role, withReferences(sidecar, workflow, ids, dayOf(clock())))])
      })
    },

    beginWorkflow: (workflow, pid = process.pid) => locked(() => noteWorkflow(root, workflow, pid, clock())),
    async endWorkflow(workflow) {
      // Ending what never began must not create a folder for the lock.
      if (isNoted(root, workflow)) await locked(() => forgetWorkflow(root, workflow))
    },

    activeWorkflows: () => activeWorkflows(root).map(({ name }) => name),

    examine: ({ fix = false } = {}) =>
      locked(() =>
        examine(root, rolesIn(root), {
          lineLimit: policy.lineLimit,
          lastDay: dayOf(clock() + dayMs),
          active: activeWorkflows(root),
          now: clock(),
          fix,
        }),
      ),
  }
}

/** A relative root refers to the current working folder. An empty one, from a setting that is not set, is refused. */
function rootOf(root: string): string {
  if (typeof root === 'string' && root !== '') return resolve(root)
  throw new MemoryError(
    'root is the path of the folder of the roles, for example <project>/.recall/echoes, as a string that is not empty',
    MemoryErrorCode.INVALID_INPUT,
  )
}

const aFunction = z.optional(z.custom((given) => typeof given === 'function', 'must be a function'))
const optionsSchema = z.strictObject({
  root: z.string(),
  lead: z.optional(z.boolean('must be true or false')),
  askHuman: aFunction,
  policy: z.optional(
    z.strictObject({ lineLimit: z.int('must be a number of lines').check(z.positive('must be above 0')) }),
  ),
  clock: aFunction,
})

/** An unknown option is probably misspelt, and ignoring it would hide that. */
function checkOptions(options: EchoesOptions): void {
  // zod/mini has no messages of its own.
  const { error } = optionsSchema.safeParse(options, { error: en().localeError })
  if (error) throw invalidInput('options', error.issues)
}

/** Every later call would refuse a file of ids that holds anything else. */
function checkReference(workflow: unknown, ids: unknown): void {
  const isText = (given: unknown): boolean => typeof given === 'string' && given !== ''
  if (isText(workflow) && Array.isArray(ids) && ids.every(isText)) return
  throw new MemoryError(
    'a reference needs the name of a workflow, a text, and a list of the ids of entries',
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** The folders with a memory, with longer notes, or with findings that wait to be consolidated. */
const rolesIn = (root: string): string[] =>
  namesIn(root).filter((name) => {
    if (name.startsWith('.') || statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() !== true)
      return false
    const isThere = (path: string): boolean => orAbsent(() => lstatSync(join(root, path))) !== null
    return isThere(memoryPath(name)) || isThere(knowledgePath(name)) || waitingAgents(root, name).length > 0
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
  const problems = clean.block.problems ?? ['it is not an entry']
  throw new MemoryError(`this entry cannot be written: ${problems.join('; ')}`, MemoryErrorCode.INVALID_INPUT)
}
