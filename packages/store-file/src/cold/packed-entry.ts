import type { Entry } from '@recall/core'

/** Loaded lazily: only commands that use the archive pay for it. */
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib')

const version = 1

/** How the name of a packed file ends. */
export const packedEnding = '.json.gz'

/** Packs an archived entry as one gzip file of JSON, with its expiry first. */
export function pack({ expiresAt, ...entry }: Entry): Uint8Array {
  return zlib().gzipSync(JSON.stringify({ version, expiresAt, ...entry }))
}

/** @throws when the bytes are not a packed entry, or one of a later version */
export function unpack(bytes: Uint8Array): unknown {
  const packed = JSON.parse(zlib().gunzipSync(bytes).toString('utf8')) as { version?: unknown }
  if (packed.version !== version) throw new Error(`its version is ${String(packed.version)}, not ${version}`)
  return packed
}

/** This many compressed bytes contain the first members. */
const beginning = 512

/** Whether an entry may have expired, judged by the beginning of its file; true when in doubt. */
export function mayBeExpired(bytes: Uint8Array, now: number): boolean {
  try {
    const { gunzipSync, constants } = zlib()
    const options = { finishFlush: constants.Z_SYNC_FLUSH }
    const text = gunzipSync(bytes.subarray(0, beginning), options).toString('utf8')
    const [, expiresAt] = /^\{"version":1,"expiresAt":(null|\d+(?:\.\d+)?)[,}]/.exec(text) ?? []
    return expiresAt === undefined || (expiresAt !== 'null' && Number(expiresAt) <= now)
  } catch {
    return true
  }
}
