import { basename } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { applyDistill, planDistill } from '@recall/sessions'
import { curatedFiles } from '@recall/store-file'
import { type RootOptions, withRoot } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

/** Shows how to bring MEMORY.md below its line limit; with `apply`, does so. */
export async function distill(
  io: Io,
  given: string | undefined,
  options: RootOptions & { json?: boolean; apply?: boolean },
): Promise<undefined> {
  return withStore(io, withRoot(io, given, options), (store) => {
    const files = curatedFiles(store)
    const text = files.read()
    if (text === null)
      throw new MemoryError(
        `${store.layout.curated} does not exist: run 'recall init'`,
        MemoryErrorCode.NOT_FOUND,
      )
    const plan = planDistill(text, { existingTopics: files.topics() })
    const applied = options.apply === true && plan.extractions.length > 0
    if (applied) {
      files.replace(text, (current) => {
        const { memory, topics } = applyDistill(current, plan)
        return { [basename(store.layout.curated)]: memory, ...topics }
      })
    }
    if (options.json) {
      io.out(`${JSON.stringify({ applied, plan })}\n`)
      return undefined
    }
    const had = `${plan.lines} of ${plan.limit} lines`
    const lines = [
      applied
        ? `MEMORY.md had ${had}, and has ${planDistill(files.read() ?? '').lines} now.`
        : `MEMORY.md has ${had}.`,
    ]
    if (plan.extractions.length === 0) {
      lines.push(
        plan.lines <= plan.limit
          ? 'Nothing to distil.'
          : 'No single section is heavy enough to move: shorten it by hand.',
      )
      const heaviest = plan.sections.slice(0, 3).filter(({ lines: n }) => n > 1)
      if (heaviest.length > 0)
        lines.push(
          '',
          'Heaviest sections:',
          ...heaviest.map(({ heading, lines: n }) => `  ${String(n).padStart(4)}  ${heading}`),
        )
    } else {
      lines.push('', applied ? 'Moved to topic files:' : 'Would move to topic files:')
      const moves = plan.extractions.map(
        ({ heading, lines: n, topicFile }) => `  ${heading} (${count(n, 'line')}) → ${topicFile}`,
      )
      lines.push(...firstFew(moves, 'section'))
      if (!applied) lines.push('', 'Run the same with --apply to do it.')
    }
    io.out(printable(`${lines.join('\n')}\n`))
    return undefined
  })
}
