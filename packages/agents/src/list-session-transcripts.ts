import { recogniseHost } from './host-formats.ts'
import { containerOf, splitAddress } from './session-containers.ts'

/**
 * A session's transcript, then those of the helpers that it started and of their helpers, then those of sessions that
 * it was forked from. If a host keeps them all in the session's own transcript, that is the only one. Of a log, all its
 * sessions.
 *
 * @param path a file, or an address as `listImportable` returns it
 * @throws MemoryError when the session, or the place of its helpers, cannot be read
 */
export async function listSessionTranscripts(path: string): Promise<string[]> {
  const address = splitAddress(path)
  if (address !== null) {
    const { file, id } = address
    const ids = (await containerOf(file)?.listHelpers?.(file, id)) ?? [id]
    return ids.map((each) => `${file}#${each}`)
  }
  const container = containerOf(path)
  const all = container?.isOfOneProject ? await container.list(path) : null
  if (all !== null) return [...all.keys()].map((id) => `${path}#${id}`)
  const found = new Set<string>()
  await addTranscripts(found, path)
  return [...found]
}

async function addTranscripts(found: Set<string>, path: string): Promise<void> {
  if (found.has(path)) return
  found.add(path)
  const host = await recogniseHost(path)
  if (host?.listHelpers === undefined) return
  const { sessionId } = await host.read(path)
  for (const helper of await host.listHelpers(path, sessionId.slice(sessionId.lastIndexOf('/') + 1)))
    found.add(helper)
  for (const origin of (await host.listOrigins?.(path)) ?? []) await addTranscripts(found, origin)
}
