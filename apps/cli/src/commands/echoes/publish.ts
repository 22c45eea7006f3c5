import { readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { connectHub, type NewMemory } from '@recall/client'
import { type JsonObject, redactText } from '@recall/core'
import type { KnownEcho } from '@recall/echoes'
import { exitCodes, UsageError } from '../../exit-codes.ts'
import { formatCounts } from '../../format.ts'
import type { Io } from '../../io.ts'
import { type EchoesOptions, type Project, print } from './project.ts'
import { echoOf, tagsOf } from './remembrance.ts'

/** Shares one echo on the hub: shows what would be sent, and what was taken out of it, and asks first. */
export async function publish(
  project: Project,
  [reference]: string[],
  options: EchoesOptions,
): Promise<number> {
  const { io } = project
  const { echo } = await echoOf(project, reference)
  const { memory, redacted } = sharedOf(echo, options)
  const access = accessOf(io, options)
  if (!options.json || !options.yes) {
    const taken = formatCounts(redacted)
    io.err(`${memory.content}\n\ntags: ${memory.tags.join(', ')}\n`)
    io.err(taken === '' ? 'Nothing had to be taken out.\n' : `Taken out: ${taken}.\n`)
  }
  const agreed =
    options.yes ||
    (!options.dryRun && (await project.askHuman(`Everybody on ${access.url} will be able to read this.`)))
  if (!agreed) {
    const answer = { published: false, hub: access.url, memory, redacted }
    print(io, options.json, answer, () => 'Nothing was sent. Run the same with --yes to publish it.\n')
    return options.dryRun ? exitCodes.fine : exitCodes.no
  }
  const hub = connectHub(access)
  try {
    const saved = await hub.save(memory)
    const answer = { published: true, hub: access.url, memory, redacted, saved }
    print(io, options.json, answer, () => `Published as ${saved.short_id}.\n`)
    return exitCodes.fine
  } finally {
    await hub.close()
  }
}

function sharedOf(
  { entry }: KnownEcho,
  { texts }: EchoesOptions,
): { memory: NewMemory; redacted: Record<string, number> } {
  const { kind, title, learning, evidence } = entry
  const { text, counts } = redactText(
    `${kind === '' ? '' : `${kind}: `}${title}\n\n${learning}\n\nEvidence: ${evidence}`,
  )
  const given = tagsOf(texts.tags)
  const words = title.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []
  const tags = given.length > 0 ? given : [...new Set([...words, ...(kind ? [kind.toLowerCase()] : [])])]
  if (tags.length < 2) throw new UsageError('the hub wants 2 to 6 tags: --tags redis,rate-limit')
  return { memory: { content: text, tags: tags.slice(0, 6) }, redacted: counts }
}

/** Address and key: from the environment, else from a file that only its owner can read. */
function accessOf(io: Io, { texts }: EchoesOptions): { url: string; apiKey: string } {
  const path = texts['key-file'] ? resolve(io.cwd, texts['key-file']) : join(io.home, '.recall-hub.json')
  const { RECALL_API_KEY: key, RECALL_API_URL: address } = io.env
  const file = key && !texts['key-file'] ? {} : readKeyFile(path)
  const apiKey = file.api_key ?? key
  const url = texts.url ?? file.url ?? address
  if (typeof apiKey === 'string' && typeof url === 'string') return { url, apiKey }
  throw new UsageError(
    `no ${typeof apiKey === 'string' ? 'address of a hub' : 'key for a hub'}: set RECALL_API_URL and RECALL_API_KEY, or write {"url": "…", "api_key": "…"} to ${path}`,
  )
}

function readKeyFile(path: string): JsonObject {
  const facts = statSync(path, { throwIfNoEntry: false })
  if (!facts) return {}
  if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0)
    throw new UsageError(`${path} holds a key and others can read it: chmod 600 it first`)
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as JsonObject
  } catch {
    throw new UsageError(`${path} is not JSON: it should be {"url": "…", "api_key": "…"}`)
  }
}
