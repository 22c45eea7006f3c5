import { dirname, join } from 'node:path'
import { isRecord } from '../content-blocks.ts'
import { readJsonLines } from '../read-json-lines.ts'
import type { ReadLinesOptions } from '../read-lines.ts'
import type { TranscriptLine } from './transcript-line.ts'

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * Tells lines that a resumed or forked session began with, and that stand in the transcript of the session they were
 * copied from as well: there they are archived. A line that stands nowhere else is none of them, as where the other
 * transcript was deleted or cannot be read.
 *
 * @param path of the transcript that the lines are of
 */
export function createCopiedLines(
  path: string,
  sessionId: string,
  options: ReadLinesOptions,
): (line: TranscriptLine) => Promise<boolean> {
  const others = new Map<string, Promise<ReadonlySet<string>>>()

  const linesOf = (session: string): Promise<ReadonlySet<string>> => {
    const known = others.get(session) ?? idsIn(join(dirname(path), `${session}.jsonl`), options)
    others.set(session, known)
    return known
  }

  return async (line) => {
    const { session, id } = originOf(line)
    if (session === undefined || id === undefined || session === sessionId || !uuid.test(session))
      return false
    return (await linesOf(session)).has(id)
  }
}

/** Where a line was said first: forks are given ids of their own, and name those that they had. */
function originOf({ sessionId, uuid, raw }: TranscriptLine): { session?: string; id?: string } {
  const { forkedFrom } = raw
  if (!isRecord(forkedFrom)) return { session: sessionId, id: uuid }
  const { sessionId: session, messageUuid: id } = forkedFrom
  return typeof session === 'string' && typeof id === 'string' ? { session, id } : {}
}

async function idsIn(path: string, options: ReadLinesOptions): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  try {
    for await (const { value } of readJsonLines(path, () => {}, options)) {
      if (isRecord(value) && typeof value.uuid === 'string') ids.add(value.uuid)
    }
  } catch {
    // What cannot be looked up stays in: said twice is better than lost.
    return new Set()
  }
  return ids
}
