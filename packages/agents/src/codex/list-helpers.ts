import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { isMemoryError } from '@recall/core'
import { filesBelow } from '../reading/files-below.ts'
import { folderOfRollouts } from './folder-of-rollouts.ts'
import { type Identity, identityIn } from './identity.ts'

const dayMs = 24 * 3600 * 1000

/**
 * The rollouts of a session's helpers. They lie among those of all sessions, and only their first line says what
 * started them. It is read for rollouts that began between the day of the session's beginning and that of its last
 * line.
 */
export async function listCodexHelpers(path: string, id: string): Promise<string[]> {
  const first = dayOf(path)
  if (first === '') return []
  // Names have the local day of the host, which begins before the UTC day in the east.
  const last = new Date((await stat(path)).mtimeMs + dayMs).toISOString().slice(0, 10)
  const isBetween = (name: string): boolean => {
    const day = dayOf(name)
    return first <= day && day <= last
  }
  const known = new Set([id])
  const found: string[] = []
  const ofHost = folderOfRollouts(path)
  // A person's folder, such as the home folder, may have anything below it.
  const rollouts = await filesBelow(ofHost ?? dirname(path), isBetween, () => ofHost !== undefined)
  for (const rollout of rollouts) {
    const { sessionId, parent = '' } = await identityOf(rollout)
    if (!parent.split('/').some((above) => known.has(above))) continue
    // A helper of a helper comes after it, because their names begin with the time.
    known.add(sessionId.slice(parent.length + 1))
    found.push(rollout)
  }
  return found
}

/** The day on which a rollout began; '' for any other file. */
const dayOf = (path: string): string =>
  /^rollout-(\d{4}-\d\d-\d\d)T.*\.jsonl(?:\.zst)?$/.exec(basename(path))?.[1] ?? ''

/** A rollout that cannot be read is reported when it is archived itself. */
async function identityOf(rollout: string): Promise<Identity> {
  try {
    return await identityIn(rollout)
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return { sessionId: '' }
  }
}
