import type { Message } from '@recall/core'
import { clip, oneLine } from './clip.ts'

/** The spoken text of one turn. */
export interface SpokenTurn {
  role: Message['role']
  text: string
}

/** Characters of a conversation that a summary is made from. */
export const condensedLength = 4000

const labels = { user: 'User: ', assistant: 'Assistant: ' } as const
const clipped = { user: 600, assistant: 350 } as const
const gap = '[…]'

/**
 * A conversation in at most `length` characters: its beginning and end, then as many of the person's turns as fit
 * (the latest first), then the assistant's. The chosen turns stay in order; `[…]` marks gaps.
 */
export function condense(turns: readonly SpokenTurn[], length = condensedLength): string {
  const lines = turns.map(({ role, text }) => `${labels[role]}${clip(oneLine(text), clipped[role])}`)
  const chosen = new Set<number>()
  // Every chosen line may need a gap behind it, and two line breaks.
  const costOf = (index: number): number => (lines[index]?.length ?? 0) + gap.length + 2
  let room = length

  for (const index of byImportance(turns)) {
    if (chosen.has(index)) continue
    const cost = costOf(index)
    if (cost <= room) {
      chosen.add(index)
      room -= cost
    } else if (chosen.size === 0) return clip(lines[index] ?? '', length)
  }

  const parts: string[] = []
  let previous = -1
  for (const index of [...chosen].sort((a, b) => a - b)) {
    if (index !== previous + 1) parts.push(gap)
    parts.push(lines[index] ?? '')
    previous = index
  }
  if (previous !== turns.length - 1) parts.push(gap)
  return parts.join('\n')
}

function* byImportance(turns: readonly SpokenTurn[]): Generator<number> {
  const last = turns.length - 1
  if (last < 0) return
  yield 0
  yield last
  yield* [1, last - 1, last - 2].filter((index) => index > 0 && index < last)
  for (const role of ['user', 'assistant'] as const) {
    for (let index = last; index >= 0; index--) if (turns[index]?.role === role) yield index
  }
}
