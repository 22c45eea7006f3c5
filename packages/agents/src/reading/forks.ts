import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isRecord } from '../json.ts'
import { readJsonLines } from './read-json-lines.ts'
import type { ReadLinesOptions } from './read-lines.ts'

/** Ids of sessions; any other text could lead out of the folder. */
const plainId = /^[\w-]+$/

/**
 * Returns a function that names the transcript in the same folder from which a line was copied, as a forked session
 * copies everything said before; `undefined` for a line of its own, or if the other transcript is gone.
 */
export function createOriginFinder(path: string): (line: Record<string, unknown>) => string | undefined {
  const known = new Map<string, string | undefined>()
  return ({ forkedFrom }) => {
    const id = isRecord(forkedFrom) ? forkedFrom.sessionId : undefined
    if (typeof id !== 'string' || !plainId.test(id)) return undefined
    if (!known.has(id)) {
      const origin = join(dirname(path), `${id}.jsonl`)
      known.set(id, origin !== path && existsSync(origin) ? origin : undefined)
    }
    return known.get(id)
  }
}

/**
 * The transcripts that a session was forked from, without their origins: what it copied from them is not read with it.
 */
export async function listOrigins(path: string, options?: ReadLinesOptions): Promise<string[]> {
  const findOrigin = createOriginFinder(path)
  const origins = new Set<string>()
  for await (const { value } of readJsonLines(path, () => {}, options)) {
    if (!isRecord(value) || (value.type !== 'user' && value.type !== 'assistant')) continue
    const origin = findOrigin(value)
    if (origin === undefined) break
    origins.add(origin)
  }
  return [...origins]
}
