export interface MemoryFacts {
  /** The memory folder exists. */
  memoryFolder: boolean
  /** The curated memory file exists. */
  memoryFile: boolean
  /** The place for archives exists. */
  archives: boolean
  /** Why existing files could not be read. */
  unread?: readonly string[]
}

export interface Health {
  health: 'healthy' | 'degraded' | 'down'
  /** For people; empty when healthy. */
  reason: string
}

/** `down` without the memory folder; `degraded` when the memory file or the archives are missing or unreadable. */
export function assessHealth(facts: MemoryFacts): Health {
  if (!facts.memoryFolder) return { health: 'down', reason: 'the memory folder does not exist' }
  const missing = [
    facts.memoryFile ? '' : 'the curated memory file',
    facts.archives ? '' : 'the archive folder',
  ].filter((name) => name !== '')
  const { unread = [] } = facts
  if (missing.length === 0 && unread.length > 0) return { health: 'degraded', reason: unread.join('; ') }
  if (missing.length === 0) return { health: 'healthy', reason: '' }
  return {
    health: 'degraded',
    reason: `${missing.join(' and ')} ${missing.length === 1 ? 'does' : 'do'} not exist`,
  }
}
