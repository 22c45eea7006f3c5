export interface MemoryFacts {
  /** Which parts exist: the folder of the memory, its curated file, the place for archives. */
  present: { memory: boolean; curated: boolean; archives: boolean }
  /** What is wrong with files that exist. */
  faults?: readonly string[] | undefined
}

export interface Health {
  health: 'healthy' | 'degraded' | 'down'
  /** For people; empty when healthy. */
  reason: string
}

/**
 * `down` without the memory folder; `degraded` when the memory file or the archives are missing, unreadable or half
 * merged.
 */
export function assessHealth({ present, faults = [] }: MemoryFacts): Health {
  if (!present.memory) return { health: 'down', reason: 'the memory folder does not exist' }
  const missing = [
    present.curated ? '' : 'the curated memory file',
    present.archives ? '' : 'the archive folder',
  ].filter((name) => name !== '')
  const absent = `${missing.join(' and ')} ${missing.length === 1 ? 'does' : 'do'} not exist`
  const reasons = [...(missing.length === 0 ? [] : [absent]), ...faults]
  return { health: reasons.length === 0 ? 'healthy' : 'degraded', reason: reasons.join('; ') }
}
