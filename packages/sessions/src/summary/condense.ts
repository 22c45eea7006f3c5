import type { Message } from '@recall/core'
import { clip, clipMiddle, oneLine } from './clip.ts'

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
 * A conversation in at most `length` characters: its beginning and end, then as many of the person's turns as fit (the
 * latest first), then the assistant's. The chosen turns stay in order; `[…]` marks gaps. Of long turns, the beginning
 * and the end are kept: the more room the others leave, the more of them.
 */
export function condense(turns: readonly SpokenTurn[], length = condensedLength): string {
  const texts = turns.map(({ text }) => oneLine(text))
  const lengthOf = (index: number): number => texts[index]?.length ?? 0
  const least = turns.map(({ role }, index) => Math.min(lengthOf(index), clipped[role]))
  const labelOf = (index: number): string => labels[turns[index]?.role ?? 'user']
  // Every chosen line may need a gap after it, and two line breaks.
  const costOf = (index: number): number => labelOf(index).length + (least[index] ?? 0) + gap.length + 2
  const chosen = new Set<number>()
  let room = length

  for (const index of byImportance(turns)) {
    if (chosen.has(index)) continue
    const cost = costOf(index)
    if (cost <= room) {
      chosen.add(index)
      room -= cost
    } else if (chosen.size === 0) return clip(`${labelOf(index)}${texts[index]}`, length)
  }

  const lengths = shareOut(
    room,
    [...chosen].map((index) => ({ index, least: least[index] ?? 0, most: lengthOf(index) })),
  )
  const parts: string[] = []
  let previous = -1
  for (const index of [...chosen].sort((a, b) => a - b)) {
    if (index !== previous + 1) parts.push(gap)
    parts.push(`${labelOf(index)}${clipMiddle(texts[index] ?? '', lengths.get(index) ?? 0)}`)
    previous = index
  }
  if (previous !== turns.length - 1) parts.push(gap)
  return parts.join('\n')
}

/** Shares the room evenly among turns that can use it; what one does not need goes to the others. */
function shareOut(
  room: number,
  turns: readonly { index: number; least: number; most: number }[],
): Map<number, number> {
  let left = room
  const byNeed = [...turns].sort((a, b) => a.most - a.least - (b.most - b.least))
  return new Map(
    byNeed.map(({ index, least, most }, i) => {
      const more = Math.min(most - least, Math.floor(left / (byNeed.length - i)))
      left -= more
      return [index, least + more]
    }),
  )
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
