import { strict as assert } from 'node:assert'
import { statfsSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { openPgliteMemory } from '../../src/pglite.ts'

/** Fills the disk under an embedded database until its log cannot grow, and checks what becomes of it. */
const place = process.argv[2] as string
const open = () => openPgliteMemory({ folder: join(place, 'database'), redact: 'allow' })
const memory = await open()

/** Does not shrink, and differs each time. */
const large = (n: number): string =>
  Array.from({ length: 2000 }, (_, i) => ((i + 1) * (n + 7919) * 0.618).toString(36)).join(' ')

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
writeFileSync(ballast, Buffer.alloc(bavail * bsize - 12_000_000))

let failure: unknown
for (let n = 60; failure === undefined; n++) failure = await write(n)
assert(isMemoryError(failure, MemoryErrorCode.WRITE_FAILED), String(failure))
assert.match(failure.message, /no room left/)

for (const call of [() => memory.read('long-term', 'note 0'), () => memory.write('long-term', 'x', 1)]) {
  const error = await call().then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert(isMemoryError(error, MemoryErrorCode.UNAVAILABLE), String(error))
  assert.match(error.message, /goes on when \d+ bytes are free/)
}

unlinkSync(ballast)
await memory.write('long-term', 'next', 'goes on by itself')
for (const n of acknowledged) assert.equal(await memory.read('long-term', `note ${n}`), large(n))
await memory.close()

const later = await open()
assert.equal(await later.read('long-term', 'next'), 'goes on by itself')
for (const n of acknowledged) assert.equal(await later.read('long-term', `note ${n}`), large(n))
await later.close()
process.stdout.write(`ok ${acknowledged.length} acknowledged\n`)
