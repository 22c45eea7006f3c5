import type { SavedMemory } from '@recall/client'
import { printable } from './terminal/printable.ts'

/** What a hub answers to a saved memory: its id, what is near to it, and what would improve it. */
export function describeSaved(
  done: string,
  { short_id, status, similar, warnings = [] }: SavedMemory,
): string {
  const near = similar.map(({ short_id: id, relation }) => `near to it: ${id} (${relation})\n`)
  const notes = warnings.map((warning) => `note: ${warning}\n`)
  const later = status === 'queued' ? '; the hub will find it once it has indexed it' : ''
  return printable([`${done} as ${short_id}${later}.\n`, ...near, ...notes].join(''))
}
