import { headLines, recogniseHost } from './host-formats.ts'

/**
 * Ids of the sessions that a session was forked from, and of those that these were forked from: what was said in them
 * until then is in its context. Only the beginning of each file is read.
 *
 * @throws MemoryError when a transcript cannot be read
 */
export async function listOriginIds(path: string): Promise<string[]> {
  const seen = new Set([path])
  const ids: string[] = []
  for (const each of seen) {
    const host = await recogniseHost(each)
    if (host === null) continue
    if (each !== path) ids.push((await host.read(each)).sessionId)
    // Added while the set is walked.
    for (const origin of (await host.listOrigins?.(each, { mostLines: headLines })) ?? []) seen.add(origin)
  }
  return [...new Set(ids)]
}
