import { basename } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import {
  applyDistill,
  type DistillExtraction,
  type DistillPlan,
  type DistillSection,
  planDistill,
} from '@recall/sessions'
import { curatedFiles } from '@recall/store-file'
import { type RootOptions, withRoot } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import { firstFew } from '../terminal/first-few.ts'
import { count } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { createRedaction } from '../terminal/redaction.ts'

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
    const plan = planDistill(text, { existingTopics: files.takenNames() })
    const applied = options.apply === true && plan.extractions.length > 0
    if (applied) {
      files.replace(text, (current) => {
        const { memory, topics } = applyDistill(current, plan)
        return { [basename(store.layout.curated)]: memory, ...topics }
      })
    }
    const left = applied ? planDistill(files.read() ?? '').lines : undefined
    const { redact, tell } = createRedaction(io)
    const clean = (name: string, value: unknown): unknown =>
      name === 'heading' || name === 'pointer' ? redact(String(value)) : value
    io.out(
      options.json
        ? `${JSON.stringify({ applied, plan }, clean)}\n`
        : printable(redact(describe(plan, left))),
    )
    tell()
    return undefined
  })
}

/** @param left lines of the memory after the plan was applied; `undefined` if the plan was only shown */
function describe(
  { lines: had, limit, sections, extractions }: DistillPlan,
  left: number | undefined,
): string {
  const size = `${had} of ${limit} lines`
  const lines = [
    left === undefined ? `MEMORY.md has ${size}.` : `MEMORY.md had ${size}, and has ${left} now.`,
    ...(extractions.length === 0
      ? nothingToMove(had <= limit, sections)
      : ['', ...movesOf(extractions, left !== undefined)]),
  ]
  return `${lines.join('\n')}\n`
}

function nothingToMove(isShort: boolean, sections: readonly DistillSection[]): string[] {
  const heaviest = sections.slice(0, 3).filter(({ lines }) => lines > 1)
  return [
    isShort ? 'Nothing to distil.' : 'No single section is heavy enough to move: shorten it by hand.',
    ...(heaviest.length > 0 ? ['', 'Heaviest sections:'] : []),
    ...heaviest.map(({ heading, lines }) => `  ${String(lines).padStart(4)}  ${heading}`),
  ]
}

function movesOf(extractions: readonly DistillExtraction[], applied: boolean): string[] {
  const moves = extractions.map(
    ({ heading, lines, topicFile }) => `  ${heading} (${count(lines, 'line')}) → ${topicFile}`,
  )
  return [
    applied ? 'Moved to topic files:' : 'Would move to topic files:',
    ...firstFew(moves, 'section'),
    ...(applied ? [] : ['', 'Run the same with --apply to do it.']),
  ]
}
