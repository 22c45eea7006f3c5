import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileEdit, type FileOutcome, install, type Target, targets } from '@recall/agents'
import { createFolder } from '@recall/core/process'
import { archiveIndexHeader, defaultFileSystem, type Layout, layoutFile, layoutOf } from '@recall/store-file'
import { sha256 } from '../digest.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { withReceiptsLocked } from '../hosts/lock-files.ts'
import { type CreatedMemory, createForHosts } from '../hosts/memory-receipt.ts'
import { toldStatus } from '../hosts/told-status.ts'
import { machineOf, namedTargets, wiringOf } from '../hosts/wiring.ts'
import { emptyMemory } from '../memory/empty-memory.ts'
import { findRoot, type RootOptions, rootAt, usualRoot, withRoot } from '../memory/find-root.ts'
import { isKnownMemory, isUserMemory } from '../memory/known-memory.ts'
import { stateFolder, wiredRoot } from '../memory/receipts.ts'
import { requireRightKinds } from '../memory/right-kinds.ts'
import { isShortLived } from '../own-process.ts'
import { quoted } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { isYes } from '../terminal/is-yes.ts'

export interface InitOptions extends RootOptions {
  json?: boolean
  /** Hosts to wire the memory into, separated by commas. */
  target?: string
  yes?: boolean
  dryRun?: boolean
  recallPrompts?: boolean
  consume?: boolean
}

interface WiredHost {
  target: string
  title: string
  files: FileOutcome[]
  notes: readonly string[]
}

/** Creates what is missing from a memory, and wires it into the chosen hosts. Existing files stay as they are. */
export async function init(io: Io, given: string | undefined, asked: InitOptions): Promise<number> {
  const options = withRoot(io, given, asked)
  const chosen = await chooseTargets(io, options)
  if (chosen.length === 0) tellUnused(io, options)
  else tellShortLived(io)
  const root = rootFor(io, options, chosen)
  const isDry = options.dryRun ?? false
  const layout = await chooseLayout(io, root, options, chosen)
  requireRightKinds(root, layout)
  const create = (onlyTells: boolean): CreatedMemory => createMemory(root, layout, onlyTells)
  const state = stateFolder(io)
  const isForHosts = !isDry && chosen.length > 0
  const memory = isForHosts
    ? withReceiptsLocked(state, () => createForHosts(state, root, create))
    : create(isDry)
  const wiring = wiringOf(io, root, layout, options)
  const machine = machineOf(io)
  const hosts: WiredHost[] = []
  for (const target of chosen) {
    const edits = target.edits(machine, wiring)
    const replace = options.json || options.yes || isDry ? [] : await givenUp(io, target.name, edits)
    const make = () => install(target.name, edits, { state, dryRun: isDry, replace, wired: wiring })
    // One host at a time, and without the lock while a person is asked.
    const files = isDry ? make() : withReceiptsLocked(state, make)
    const notes = target.notes?.(machine, wiring) ?? []
    hosts.push({ target: target.name, title: target.title, files, notes })
  }
  const created = memory.created.map(({ path }) => path)
  const report = { root, layout: layout.name, created, kept: memory.kept }
  if (options.json) {
    io.out(
      `${JSON.stringify({ ...report, ...(hosts.length > 0 ? { hosts } : {}), ...(hosts.length > 0 || isDry ? { dryRun: isDry } : {}) })}\n`,
    )
  } else io.out(summary(report, hosts, isDry, isFoundFromAnywhere(io, root)))
  return hosts.some(isRefused) ? exitCodes.failed : exitCodes.fine
}

/** Anyone who gave these options believes that agents are wired. */
function tellUnused(io: Io, { recallPrompts, consume }: InitOptions): void {
  const name = recallPrompts ? '--recall-prompts' : '--consume'
  if (recallPrompts || consume)
    io.err(`recall: ${name} is for agents, and none is wired: name them with --target\n`)
}

function tellShortLived(io: Io): void {
  if (!isShortLived(io.ownCommand ?? [])) return
  io.err(
    "recall: this program was fetched for one run, and agents that start it lose their memory when it is cleaned away: install it with 'npm install -g @recall/cli', then run 'recall init' again\n",
  )
}

const isRefused = ({ files }: WiredHost): boolean => files.some(({ status }) => status === 'refused')

/** The hosts that the user named, or those on this machine if the user agrees. */
async function chooseTargets(io: Io, options: InitOptions): Promise<Target[]> {
  if (options.target !== undefined) return namedTargets(io, options.target)
  if (options.json && !options.yes) return []
  const machine = machineOf(io)
  const present = targets.filter((target) => target.isInstalled(machine))
  if (options.yes || present.length === 0) return options.yes ? present : []
  const names = present.map(({ name }) => name).join(', ')
  const answer = (
    await io.ask(
      `On this machine: ${present.map(({ title }) => title).join(', ')}. Wire the memory into them? [${names} / none] `,
    )
  )?.trim()
  if (answer === undefined || answer === 'none' || /^no?$/i.test(answer)) return []
  return answer === '' || isYes(answer) ? present : namedTargets(io, answer)
}

/** Files whose names we need, which somebody else wrote, and which the person lets us replace. */
async function givenUp(io: Io, name: string, edits: readonly FileEdit[]): Promise<string[]> {
  const paths: string[] = []
  for (const { path, replaceable } of install(name, edits, { state: stateFolder(io), dryRun: true })) {
    if (!replaceable) continue
    const answer = await io.ask(
      `${path} was not written by recall, or changed since. Replace it? 'recall uninit' puts it back. [y/N] `,
    )
    if (isYes(answer)) paths.push(path)
  }
  return paths
}

/**
 * The root of the memory. A memory for hosts belongs to the user, not to the folder where the command happens to run.
 * One in the user layout lies in Claude's own folder, and one that is already there goes on.
 */
function rootFor(io: Io, options: InitOptions, chosen: readonly Target[]): string {
  if (chosen.length === 0 || options.root || io.env.RECALL_ROOT) return findRoot(io, options)
  const usual = usualRoot(io)
  if (!chosen.some(({ name }) => name === 'claude')) return usual
  const claudes = rootAt(io, io.env.CLAUDE_CONFIG_DIR || join(io.home, '.claude'))
  const isFirst = wiredRoot(io) === undefined && !isKnownMemory(usual)
  const goesOn = options.layout === undefined && isFirst && isUserMemory(claudes)
  return goesOn || options.layout === 'user' ? claudes : usual
}

function createMemory(root: string, layout: Layout, isDry: boolean): CreatedMemory {
  const memory: CreatedMemory = { created: [], kept: [], folders: [] }
  const folder = (path: string): void => {
    for (let level = path; !existsSync(level) && !memory.folders.includes(level); level = dirname(level)) {
      memory.folders.push(level)
    }
    // Like a store that creates its folders: only the user may enter them.
    if (!isDry) createFolder(path, 0o700)
  }
  const file = (path: string, content: string): void => {
    const full = join(root, path)
    if (existsSync(full)) return void memory.kept.push(path)
    folder(dirname(full))
    if (!isDry && !createFile(full, content)) return void memory.kept.push(path)
    memory.created.push({ path, digest: sha256(content) })
  }
  folder(root)
  file(layout.curated, emptyMemory)
  file(layout.window, '')
  file(layout.archiveIndex, archiveIndexHeader)
  if (existsSync(join(root, layout.archives))) memory.kept.push(`${layout.archives}/`)
  else {
    folder(join(root, layout.archives))
    memory.created.push({ path: `${layout.archives}/` })
  }
  return memory
}

/** @returns false when another process has just created the file */
function createFile(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: 'wx' })
    return true
  } catch (error) {
    // A link that leads nowhere is in the way as well.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST' && existsSync(path)) return false
    throw error
  }
}

/** The layout that was asked for, otherwise that of the existing memory, otherwise the user's choice. */
async function chooseLayout(
  io: Io,
  root: string,
  { layout, json, yes }: InitOptions,
  chosen: readonly Target[],
): Promise<Layout> {
  const detected = layoutOf(defaultFileSystem, root, layout)
  if (layout) return detected
  const isNew = ![layoutFile, detected.window, detected.archiveIndex, detected.archives].some((path) =>
    existsSync(join(root, path)),
  )
  if (!isNew || json || yes || chosen.length > 0) return detected
  const answer = await io.ask(
    'One memory for an entity (everything below memory/), or for a user (window and archives next to it)? [entity] ',
  )
  if (answer === null || answer.trim() === '') return detected
  if (answer.trim() === 'user' || answer.trim() === 'entity')
    return layoutOf(defaultFileSystem, root, answer.trim() as Layout['name'])
  throw new UsageError(`the layouts are entity and user, not '${answer.trim()}'`)
}

const isFoundFromAnywhere = (io: Io, root: string): boolean =>
  [io.env.RECALL_ROOT && rootAt(io, io.env.RECALL_ROOT), usualRoot(io)].includes(root)

function summary(
  { root, layout, created, kept }: { root: string; layout: string; created: string[]; kept: string[] },
  hosts: readonly WiredHost[],
  isDry: boolean,
  isFound: boolean,
): string {
  const elsewhere = isFound
    ? []
    : ['', `Commands that run in other folders find it with RECALL_ROOT=${quoted(root)}`]
  const lines = [
    `Memory at ${root} (${layout} layout)`,
    ...created.map((path) => `  ${toldStatus('created', isDry)} ${path}`),
    ...kept.map((path) => `  ${toldStatus('kept', isDry)} ${path}`),
    ...(isDry ? [] : howItWorks),
    ...hosts.flatMap((host) => describeHost(host, isDry)),
    '',
    ...(isDry ? ['Nothing was changed: this was a dry run.'] : hosts.length > 0 ? wired(hosts) : unwired),
    // Without a root that command would wire in the usual memory instead of this one.
    ...(isFound && !isDry && hosts.length === 0 ? [wiringLater] : []),
    ...(isDry ? [] : elsewhere),
  ]
  return `${lines.join('\n')}\n`
}

const howItWorks = [
  '',
  'A session becomes an archive, and a summary in EPHEMERAL.md that the next one is',
  'given. What should always be in view stands in MEMORY.md. A search finds it all.',
]
const unwired = [
  'Next:  recall archive <transcript>   archive a session',
  '       recall search <words>         find anything in it',
  '       recall status                 see how it is doing',
]
const wiringLater = '       recall init --target <name>   wire it into an agent, such as claude'
const wired = (hosts: readonly WiredHost[]): string[] => [
  hosts.some(isRefused)
    ? 'These agents have this memory once what was refused is put in by hand.'
    : 'From now on these agents have this memory, as far as each of them lets it in.',
  '',
  'Next:  recall import                 bring in the sessions that you already had',
  '       recall search <words>         find anything in them',
  '       recall uninit                 remove all of this again',
]

function describeHost({ title, files, notes }: WiredHost, isDry: boolean): string[] {
  return [
    '',
    title,
    ...files.flatMap(({ path, status, reason, byHand, backup }) => [
      `  ${toldStatus(status, isDry)} ${path}${backup ? ` (backup in ${backup})` : ''}`,
      ...(reason ? [`           ${reason}. Put this into it by hand:`] : []),
      ...(byHand
        ? byHand
            .trimEnd()
            .split('\n')
            .map((line) => `           ${line}`)
        : []),
    ]),
    ...notes.map((note) => `  ${toldStatus('note', isDry)} ${note}`),
  ]
}
