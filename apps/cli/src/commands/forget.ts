import { type Address, isConversationKey, type MemoryScope } from '@recall/core'
import { archiveKeysIn, type FileStore } from '@recall/store-file'
import { sha256 } from '../digest.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { dropSummaries, summariesToForget, type WaitingSummary } from '../hosts/waiting-summaries.ts'
import { everyNamespace } from '../memory/every-entry.ts'
import { type FileBeside, filesBeside, withCleanName } from '../memory/files-beside.ts'
import { addressesByKey, addressesByText, distinctAddresses } from '../memory/find-addresses.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { removeForGood } from '../memory/remove-for-good.ts'
import { sessionKeptIn, sessionOf } from '../memory/session-keys.ts'
import { withStore } from '../memory/with-store.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

export interface ForgetOptions extends RootOptions {
  json?: boolean
  containing?: string
  scope?: MemoryScope
  yes?: boolean
}

/**
 * Removes memories for good and leaves tombstones, so that an import does not bring them back. Exit code 1 when there
 * is nothing under a key, or when other files of the memory hold what is forgotten: only a person removes those.
 */
export async function forget(io: Io, keys: string[], options: ForgetOptions): Promise<number> {
  if (keys.length === 0 && !options.containing)
    throw new UsageError('say which key to forget, or --containing <text>')
  return withStore(io, options, async (store) => {
    const { addresses, waiting, sealed } = await findAll(store, keys, options)
    if (sealed > 0) io.err(`recall: ${notLookedInto(sealed)}\n`)
    if (options.yes) {
      // The marks that this leaves also stop a summary that another process is about to store.
      await removeForGood(store, addresses, io.now)
      dropSummaries(store, waiting)
    }
    const beside = (await filesThatHold(store, keys, addresses, options)).map(withCleanName)
    const receipt = receiptOf(keys, addresses, beside, io.now(), options.yes === true)
    if (options.json) io.out(`${JSON.stringify(receipt)}\n`)
    else if (addresses.length === 0) io.out(nothingUnder(keys))
    else tell(io, receipt)
    if (!options.json) tellBeside(io, beside)
    const isDone = addresses.length > 0 && !receipt.missing && beside.length === 0
    return isDone ? exitCodes.fine : exitCodes.no
  })
}

/**
 * `waiting` are those of the addresses that are still to be stored; `sealed` counts the memories that may contain the
 * text, because they are encrypted.
 */
async function findAll(
  store: FileStore,
  keys: readonly string[],
  { containing, scope }: ForgetOptions,
): Promise<{ addresses: Address[]; waiting: WaitingSummary[]; sealed: number }> {
  const found: Address[] = []
  let sealed = 0
  for (const namespace of everyNamespace(store)) {
    found.push(...(await addressesByKey(store, namespace, keys, scope)))
    if (!containing) continue
    const saying = await addressesByText(store, namespace, containing, scope)
    found.push(...saying.found)
    sealed += saying.sealed
  }
  const waiting = summariesToForget(store, { keys, found, containing, scope })
  return {
    addresses: distinctAddresses([...found, ...waiting.map(({ address }) => address)]),
    waiting,
    sealed,
  }
}

/**
 * The files that hold the text, or by their front matter a session that is forgotten, and that are not files of
 * memories to be removed or of a scope that was not asked for.
 */
async function filesThatHold(
  store: FileStore,
  keys: readonly string[],
  addresses: readonly Address[],
  { containing, scope, yes }: ForgetOptions,
): Promise<FileBeside<true>[]> {
  const named = scope && scope !== 'episodic' ? [] : [...keys, ...addresses.map(({ key }) => key)]
  const archives = new Set(named.filter(isConversationKey))
  if (!containing && archives.size === 0) return []
  const everywhere = scope ? (await findAll(store, keys, { containing })).addresses : addresses
  const removed = new Set(yes ? distinctAddresses(addresses).map(nameOf) : [])
  const left = everywhere.filter((each) => !removed.has(nameOf(each)))
  return filesBeside(store, filesOf(store, left), (text) => {
    const says = containing !== undefined && text.includes(containing)
    return says || archiveKeysIn(text).some((key) => archives.has(key)) ? true : undefined
  })
}

const nameOf = ({ scope, namespace, key }: Address): string => JSON.stringify([scope, namespace, key])

/** The files of memories that are not packed away, and where there is an archive, the table with its row. */
const filesOf = ({ layout, index }: FileStore, addresses: readonly Address[]): Set<string> =>
  index.query((current) => {
    const folders = current.folderPaths()
    const rows = addresses.flatMap(({ scope, namespace, key }) => current.byKey(scope, namespace, key) ?? [])
    const paths = rows.map(({ folder, name }) => [folders.get(folder), name].filter(Boolean).join('/'))
    return new Set([...paths, ...(rows.some(({ number }) => number !== null) ? [layout.archiveIndex] : [])])
  })

/** What `--json` prints. */
interface Receipt {
  forgotten: boolean
  at: string
  memories: { scope: MemoryScope; key: string; namespace?: string }[]
  /** The keys under which nothing was found. */
  missing?: string[]
  /** References of the echoes whose copies are among the memories. */
  echoes?: string[]
  /** Other files that hold what is forgotten, or that could not be examined. */
  beside?: { path: string; problem?: string }[]
  receipt: string
}

function receiptOf(
  keys: readonly string[],
  addresses: readonly Address[],
  beside: readonly FileBeside<true>[],
  now: number,
  isAgreed: boolean,
): Receipt {
  const missing = keysWithNothing(keys, addresses)
  const echoes = addresses.flatMap(({ key }) => echoIn(key) ?? [])
  return {
    forgotten: isAgreed && addresses.length > 0,
    at: new Date(now).toISOString(),
    memories: addresses.map(({ scope, namespace, key }) => ({
      scope,
      key,
      ...(namespace === 'default' ? {} : { namespace }),
    })),
    ...(missing.length > 0 ? { missing } : {}),
    ...(echoes.length > 0 ? { echoes } : {}),
    ...(beside.length > 0 ? { beside: beside.map(({ path, problem }) => ({ path, problem })) } : {}),
    receipt: sha256(JSON.stringify(addresses)).slice(0, 16),
  }
}

function tell(io: Io, { forgotten, at, memories, missing = [], echoes, receipt }: Receipt): void {
  const lines = memories.map(
    ({ scope, namespace, key }) =>
      `${scope.padEnd(11)} ${printable(key)}${namespace === undefined ? '' : ` (of ${printable(namespace)})`}`,
  )
  for (const line of firstFew(lines, 'memory', 'memories')) io.out(`${line}\n`)
  const n = count(memories.length, 'memory', 'memories')
  io.out(
    forgotten
      ? `\n${n} forgotten at ${at}, receipt ${receipt}. Backups, exports and the agents' own transcripts still hold them.\n`
      : `\nRun the same with --yes to forget ${n}.\n`,
  )
  if (echoes) io.out(copiesOf(echoes))
  for (const key of missing) io.err(`recall: nothing is kept under ${printable(key)}\n`)
}

function tellBeside(io: Io, beside: readonly FileBeside<true>[]): void {
  if (beside.length === 0) return
  const lines = beside.map(({ path, problem }) =>
    problem === undefined ? `${path}: holds it too` : `${path}: not examined: ${problem}`,
  )
  io.out('\n')
  for (const line of firstFew(lines, 'file')) io.out(`${printable(line)}\n`)
  io.out('\nThese files are left as they are: take it out of them, or delete them.\n')
}

/** The keys under which nothing was found, nor anything of the sessions that they name. */
function keysWithNothing(keys: readonly string[], found: readonly Address[]): string[] {
  const named = new Set(found.map(({ key }) => key))
  const sessions = new Set(found.map(sessionKeptIn))
  return [...new Set(keys)].filter((key) => {
    const session = sessionOf({ key })
    return !named.has(key) && (session === undefined || !sessions.has(session))
  })
}

/** The reference of an echo, such as `reviewer/inscribed-003`, if the key is that of its copy. */
const echoIn = (key: string): string | undefined => /^echo:(?:[^/]+\/)?([^/]+\/[a-z]+-\d{3,})$/.exec(key)?.[1]

const copiesOf = (echoes: readonly string[]): string =>
  `What begins with echo: is a copy, which 'recall echoes' makes again in its project with the next change, 'surface' or 'doctor'. Remove ${printable(echoes.join(', '))} there, with 'recall echoes remove <entry> --yes', then delete the archive folder of its role, which keeps removed entries.\n`

/** Nothing is forgotten on a guess: a key that is only the beginning of others gets an explanation. */
const nothingUnder = (keys: readonly string[]): string =>
  keys.length === 0
    ? 'Nothing to forget.\n'
    : "Nothing to forget. A key is named whole, as 'recall search --json' shows it.\n"

const notLookedInto = (sealed: number): string =>
  `${count(sealed, 'memory is', 'memories are')} encrypted and cannot be searched: forget such by their keys`
