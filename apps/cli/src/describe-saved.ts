import type { SavedMemory } from '@recall/client'
import { printable } from './terminal/printable.ts'

/** What a hub says of a memory that was given to it: its id, what is near to it, and what would make it better. */
export function describeSaved(
  done: string,
  { short_id, status, similar, warnings = [] }: SavedMemory,
): string {
  const near = similar.map(({ short_id: id, relation }) => `near to it: ${id} (${relation})\n`)
  const notes = warnings.map((warning) => `note: ${warning}\n`)
  const later = status === 'queued' ? '; the hub will find it as soon as it has read it' : ''
  return printable([`${done} as ${short_id}${later}.\n`, ...near, ...notes].join(''))
}
