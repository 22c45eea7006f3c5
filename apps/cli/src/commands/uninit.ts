import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileOutcome, installedNames, type Target, targets, uninstall } from '@recall/agents'
import { layouts } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import { withReceiptsLocked } from '../hosts/lock-files.ts'
import { removeCreated, wholeReceipts } from '../hosts/memory-receipt.ts'
import { toldStatus } from '../hosts/told-status.ts'
import { machineOf, namedTargets, wiringOf } from '../hosts/wiring.ts'
import { stateFolder } from '../memory/receipts.ts'
import type { Io } from '../terminal/io.ts'
import { isYes } from '../terminal/is-yes.ts'

export interface UninitOptions {
  json?: boolean
  target?: string
  purge?: boolean
  yes?: boolean
  dryRun?: boolean
}

/** Removes the wiring from the named hosts, or from all. What was remembered stays, unless `purge` is set. */
export async function uninit(io: Io, options: UninitOptions): Promise<number> {
  const state = stateFolder(io)
  const isDry = options.dryRun ?? false
  // Refuses damaged ones before anything is removed.
  wholeReceipts(state)
  const named = options.target === undefined ? undefined : namedTargets(io, options.target)
  // Without the folder nothing was wired in, and taking the lock would create it.
  const isUnwired = !existsSync(state)
  if (options.purge && !options.yes && !isDry && !isUnwired && !(await isPurgeAgreed(io))) {
    io.err('recall: nothing was changed; add --yes to delete the memory without being asked\n')
    if (options.json) io.out(`${JSON.stringify({ hosts: [], memories: [], removed: [], dryRun: false })}\n`)
    return exitCodes.no
  }
  const takeBackAll = (): Taken => takeBack(io, state, named, options)
  const taken = isDry || isUnwired ? takeBackAll() : withReceiptsLocked(state, takeBackAll)
  if (!isDry) for (const folder of [state, dirname(state)]) removeIfEmpty(folder)
  const { hosts, wired, left, removed, away } = taken
  const changed =
    hosts.some(({ files }) => files.length > 0) || [left, removed, away].some(({ length }) => length > 0)
  if (options.json) io.out(`${JSON.stringify({ hosts, memories: left, removed, dryRun: isDry })}\n`)
  else io.out(changed ? summary(taken, isDry) : 'Recall is wired into no host.\n')
  const isKept = options.purge === true && wired.length > 0
  if (isKept) io.err(`recall: the memory stays, because it is still wired into ${titlesOf(wired)}\n`)
  if (hosts.some(isRefused)) return exitCodes.failed
  return isKept ? exitCodes.no : exitCodes.fine
}

const isPurgeAgreed = async (io: Io): Promise<boolean> =>
  isYes(await io.ask('Delete the memory too, with every archived session? [no] '))

interface Host {
  target: string
  files: FileOutcome[]
}

interface Taken extends ReturnType<typeof removeCreated> {
  hosts: Host[]
  /** The hosts into which the memory is still wired. */
  wired: string[]
}

const isRefused = ({ files }: Host): boolean => files.some(({ status }) => status === 'refused')

/** Removes the wiring from hosts and, with the last one, what `init` created. */
function takeBack(
  io: Io,
  state: string,
  named: readonly Target[] | undefined,
  { purge = false, dryRun = false }: UninitOptions,
): Taken {
  const installed = installedNames(state)
  const names = named?.map(({ name }) => name) ?? installed
  // The edits only identify what to remove, so any wiring will do.
  const wiring = wiringOf(io, join(io.home, '.recall'), layouts.entity)
  const hosts = names.map((name) => {
    const target = named?.find((each) => each.name === name) ?? find(name)
    const edits = target?.edits(machineOf(io), wiring) ?? []
    const files = uninstall(name, edits, { state, dryRun })
    return { target: name, files: files.filter(({ status }) => status !== 'absent') }
  })
  const isLeft = (name: string): boolean => hosts.every((host) => host.target !== name || isRefused(host))
  const wired = dryRun ? installed.filter(isLeft) : installedNames(state)
  const created =
    wired.length === 0 ? removeCreated(state, { purge, dryRun }) : { left: [], removed: [], away: [] }
  return { hosts, wired, ...created }
}

const find = (name: string): Target | undefined => targets.find((target) => target.name === name)

const titlesOf = (names: readonly string[]): string =>
  names.map((name) => find(name)?.title ?? name).join(', ')

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}

function summary({ hosts, left, removed, away }: Taken, isDry: boolean): string {
  const lines = [
    ...hosts.flatMap(({ target, files }) => [
      find(target)?.title ?? target,
      ...files.flatMap(({ path, status, reason, byHand }) => [
        `  ${toldStatus(status, isDry)} ${path}`,
        ...(reason ? [`           ${reason}`] : []),
        ...(status === 'refused' && byHand ? [`           ${byHand}`] : []),
      ]),
      '',
    ]),
    ...left.map(({ root, isOlder }) =>
      isOlder
        ? `Your memory stays at ${root}: it was there before, and is yours to delete.`
        : `Your memory stays at ${root}. To delete it as well: recall uninit --purge`,
    ),
    ...removed.map((root) => `${isDry ? 'Would delete' : 'Deleted'} the memory at ${root}.`),
    ...away.map((root) => `There is no memory at ${root}. If its disk is away, it stays there.`),
    ...(isDry ? ['Nothing was changed: this was a dry run.'] : []),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}
