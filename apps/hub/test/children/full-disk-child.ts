import { strict as assert } from 'node:assert'
import { statfsSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectHub, registerAgent } from '@recall/client'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { noLimits } from '../support/open-hub.ts'
import { startHub, until } from '../support/processes.ts'

/** Fills the disk under a hub on its embedded database, and checks what its callers are told. */
const place = process.argv[2] as string
const config = join(place, 'hub.json')
writeFileSync(config, JSON.stringify(noLimits))
const hub = await startHub({ DATA: join(place, 'data'), EMBEDDING_PROVIDER: 'fake', CONFIG: config })
const { apiKey } = await registerAgent({ url: hub.url }, 'ada')
const { memory } = connectHub({ url: hub.url, apiKey, retries: 0 })

/** Does not shrink, and differs each time. */
const large = (n: number): string =>
  Array.from({ length: 1500 }, (_, i) => ((i + 1) * (n + 7919) * 0.618).toString(36)).join(' ')

const acknowledged: number[] = []
const write = async (n: number): Promise<unknown> => {
  try {
    await memory.write('long-term', `note ${n}`, large(n))
    acknowledged.push(n)
    return undefined
  } catch (error) {
    return error
  }
}
for (let n = 0; n < 60; n++) assert.equal(await write(n), undefined)

const ballast = join(place, 'ballast')
const { bavail, bsize } = statfsSync(place)
writeFileSync(ballast, Buffer.alloc(bavail * bsize - 10_000_000))

const failures: unknown[] = []
for (let n = 60; failures.length < 3; n++) {
  const failure = await write(n)
  if (failure !== undefined) failures.push(failure)
}
const expected: string[] = [MemoryErrorCode.WRITE_FAILED, MemoryErrorCode.UNAVAILABLE]
for (const failure of failures)
  assert(isMemoryError(failure) && expected.includes(failure.code), String(failure))
assert.equal((await fetch(`${hub.url}/livez`)).status, 200)
assert.equal((await fetch(`${hub.url}/readyz`)).status, 503)
const refused = await fetch(`${hub.url}/api/v1/memory/search?q=anything`, {
  headers: { Authorization: `Bearer ${apiKey}` },
})
assert.equal(refused.status, 503)
assert.equal(refused.headers.get('Content-Type'), 'application/problem+json')
assert(Number(refused.headers.get('Retry-After')) > 0)

unlinkSync(ballast)
await until(
  () => fetch(`${hub.url}/readyz`),
  ({ status }) => status === 200,
)
await memory.write('long-term', 'next', 'goes on by itself')
for (const n of acknowledged) assert.equal(await memory.read('long-term', `note ${n}`), large(n))
assert.equal(await hub.stop('SIGTERM'), 0)
process.stdout.write(`ok ${acknowledged.length} acknowledged, then ${String(failures[0])}\n`)
