import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FileOutcome, installedNames, type Target, targets, uninstall } from '@recall/agents'
import { layouts } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import { withReceiptsLocked } from '../hosts/lock-files.ts'
import { removeCreated, wholeReceipts } from '../hosts/memory-receipt.ts'
import { machineOf, namedTargets, wiringOf } from '../hosts/wiring.ts'
import { stateFolder } from '../memory/receipts.ts'
import type { Io } from '../terminal/io.ts'

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
  // Refuses damaged ones before anything is taken out.
  wholeReceipts(state)
  const installed = installedNames(state)
  const named = options.target === undefined ? undefined : namedTargets(io, options.target)
  const names = named?.map(({ name }) => name) ?? installed
  // Without the folder nothing was wired in, and the lock would make it.
  const isUnwired = !existsSync(state)
  if (options.purge && !options.yes && !isDry && !isUnwired) {
    const answer = await io.ask('Delete the memory too, with every archived session? [no] ')
    if (!/^y(es)?$/i.test(answer?.trim() ?? '')) {
      io.err('recall: nothing was changed; add --yes to delete the memory without being asked\n')
      if (options.json) io.out(`${JSON.stringify({ hosts: [], memories: [], removed: [], dryRun: false })}\n`)
      return exitCodes.no
    }
  }
  // The edits only identify what to remove, so any wiring will do.
  const wiring = wiringOf(io, join(io.home, '.recall'), layouts.entity)
  const takeBack = () => {
    const hosts = names.map((name) => {
      const target: Target | undefined = named?.find((each) => each.name === name) ?? find(name)
      const edits = target?.edits(machineOf(io), wiring) ?? []
      const files = uninstall(name, edits, { state, dryRun: isDry })
      return { target: name, files: files.filter(({ status }) => status !== 'absent') }
    })
    const isLast = installedNames(state).length === 0 || (isDry && names.length === installed.length)
    const created = isLast
      ? removeCreated(state, { purge: options.purge ?? false, dryRun: isDry })
      : { left: [], removed: [], away: [] }
    return { hosts, ...created }
  }
  const { hosts, left, removed, away } = isDry || isUnwired ? takeBack() : withReceiptsLocked(state, takeBack)
  if (!isDry) for (const folder of [state, dirname(state)]) removeIfEmpty(folder)
  const changed =
    hosts.some(({ files }) => files.length > 0) || [left, removed, away].some(({ length }) => length > 0)
  if (options.json) io.out(`${JSON.stringify({ hosts, memories: left, removed, dryRun: isDry })}\n`)
  else io.out(changed ? summary(hosts, { left, removed, away, isDry }) : 'Recall is wired into no host.\n')
  return hosts.some(({ files }) => files.some(({ status }) => status === 'refused'))
    ? exitCodes.failed
    : exitCodes.fine
}

const find = (name: string): Target | undefined => targets.find((target) => target.name === name)

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder)
}

function summary(
  hosts: readonly { target: string; files: FileOutcome[] }[],
  { left, removed, away, isDry }: ReturnType<typeof removeCreated> & { isDry: boolean },
): string {
  const lines = [
    ...hosts.flatMap(({ target, files }) => [
      find(target)?.title ?? target,
      ...files.flatMap(({ path, status, reason, byHand }) => [
        `  ${status.padEnd(8)} ${path}`,
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
    ...removed.map((root) => `Deleted the memory at ${root}.`),
    ...away.map((root) => `There is no memory at ${root}. If its disk is away, it stays there.`),
    ...(isDry ? ['Nothing was changed: this was a dry run.'] : []),
  ]
  return `${lines.join('\n').trimEnd()}\n`
}
