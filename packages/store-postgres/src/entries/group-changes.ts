import type { Address, Change } from '@recall/core'
import { jsonBytes } from '@recall/core/json'
import { entryId } from './address.ts'

/**
 * Every writer changes entries in the same order; otherwise two batches could wait for each other. Each key occurs
 * once.
 */
export function inLockOrder(changes: readonly Change[]): Change[] {
  // Each id is a digest: it is computed once, not for every comparison.
  const named = changes.map((change) => ({ change, id: entryId(addressOf(change)) }))
  return named.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ change }) => change)
}

/** Most entries that one statement writes, and most bytes of their values: all of them are one text. */
const mostTogether = 500
const mostBytesTogether = 4_000_000

export const addressOf = (change: Change): Address => ('put' in change ? change.put : change.remove)

/** Groups neighbouring changes that one statement can make: puts of the same manner, or removals. */
export function inRuns(changes: readonly Change[]): [Change, ...Change[]][] {
  const runs: [Change, ...Change[]][] = []
  let bytes = 0
  for (const change of changes) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const own = bytesOf(change)
    const hasRoom = run && run.length < mostTogether && bytes + own <= mostBytesTogether
    if (hasRoom && last && areAlike(last, change)) {
      run.push(change)
      bytes += own
    } else {
      runs.push([change])
      bytes = own
    }
  }
  return runs
}

/** The bytes that are written, and those that are read because they are expected. */
const bytesOf = (change: Change): number =>
  ('put' in change ? jsonBytes(change.put.value) : 0) +
  (change.expected?.value === undefined ? 0 : jsonBytes(change.expected.value))

const areAlike = (a: Change, b: Change): boolean => {
  const [one, other] = [addressOf(a), addressOf(b)]
  const isNeighbour = one.namespace === other.namespace && one.scope === other.scope && one.key !== other.key
  return isNeighbour && ('put' in a ? 'put' in b && arePutAlike(a, b) : 'remove' in b)
}

const arePutAlike = (a: Put, b: Put): boolean =>
  Boolean(a.expected) === Boolean(b.expected) &&
  a.options.overwrite === b.options.overwrite &&
  a.options.now === b.options.now

type Put = Extract<Change, { put: unknown }>
