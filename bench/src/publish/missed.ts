import { say } from '../options.ts'
import { holds, type Row, showFigure } from '../report.ts'

/** Reports which bounds do not hold, and where the rest can be found. */
export function sayMissed(rows: readonly Row[], path: string): void {
  const bounded = rows.filter(({ bound }) => bound !== undefined)
  const missed = bounded.filter((row) => !holds(row))
  for (const { what, size, ours, ratio, bound, peer, peers } of missed) {
    const at = size > 1 ? ` at ${size.toLocaleString('en')}` : ''
    say(
      `missed: ${what}${at}: ${showFigure(ours)}, ${peer} ${showFigure(peers)}: ${ratio.toFixed(2)}, bound ${bound}`,
    )
  }
  say(`${bounded.length - missed.length} of ${bounded.length} bounds hold; see ${path}`)
}
