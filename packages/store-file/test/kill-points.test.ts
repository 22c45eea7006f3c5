import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { bundleScript } from './support/child-process.ts'
import { dyingFileSystem, ProcessDied } from './support/faulty-file-system.ts'
import { fill, observe, openAt, operations } from './support/operations.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

/** The memory before and after an operation, and copies of it to try the operation on. */
async function prepare(run: (typeof operations)[number]['run']) {
  const place = temporaryRoot()
  const full = join(place, 'full')
  mkdirSync(full)
  await fill(full)
  const copy = (name: string): string => {
    cpSync(full, join(place, name), { recursive: true })
    return join(place, name)
  }
  const done = copy('done')
  const opened = await openAt(done)
  await run(opened)
  await opened.memory.close()
  return { copy, before: await observe(copy('before')), after: await observe(done) }
}

/** Runs a call as a process of its own would: what it has not done when it ends, no timer does later. */
async function asProcess<T>(call: () => Promise<T>): Promise<T> {
  const begin = globalThis.setTimeout
  const timers: NodeJS.Timeout[] = []
  const spy = vi.spyOn(globalThis, 'setTimeout').mockImplementation(((...given: Parameters<typeof begin>) => {
    const timer = begin(...given)
    timers.push(timer)
    return timer
  }) as typeof begin)
  try {
    return await call()
  } finally {
    spy.mockRestore()
    for (const timer of timers) clearTimeout(timer)
  }
}

describe('a process that dies at any moment', () => {
  for (const { name, run, stepwise } of operations) {
    it(`leaves the old state or the new one: ${name}`, async () => {
      const { copy, before, after } = await prepare(run)
      expect(after).not.toBe(before)
      for (let k = 1; ; k++) {
        const root = copy(`k${k}`)
        const { fileSystem } = dyingFileSystem(k)
        const outcome = await asProcess(async () => run(await openAt(root, fileSystem))).then(
          () => 'finished',
          (error: unknown) => error,
        )
        const found = await observe(root)
        // Compared with one of the two, so that a failure shows what differs.
        if (!stepwise && found !== before) expect(found, `killed before call ${k}`).toBe(after)
        const { memory, store } = await openAt(root)
        const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
        expect(
          findings.filter(({ ok, check }) => !ok && check !== 'leftovers'),
          `call ${k}`,
        ).toEqual([])
        if (outcome === 'finished') {
          expect(found).toBe(after)
          await memory.close()
          expect(k).toBeGreaterThan(3)
          return
        }
        const again = run({ memory, store, fileSystem: defaultFileSystem })
        // What must be new can be written only once.
        await again.catch((error: unknown) => {
          if (found !== after || !isMemoryError(error, 'MEMORY_CONFLICT')) throw error
        })
        await memory.close()
        expect(await observe(root), `done again after a kill before call ${k}`).toBe(after)
      }
    })
  }
})

describe('a process that is killed with SIGKILL at a chosen call', () => {
  let script = ''
  beforeAll(async () => {
    script = await bundleScript('kill-point-child.ts')
  })

  it.each(['atomic update of three', 'archive of a conversation', 'overwrite of a note'])(
    'leaves the old state or the new one, and nothing unfinished after the next search: %s',
    async (name) => {
      const operation = operations.find((each) => each.name === name)
      if (!operation) throw new Error(name)
      const { copy, before, after } = await prepare(operation.run)
      for (let k = 2, isDead = true; isDead; k += 3) {
        const root = copy(`k${k}`)
        const { signal, status } = spawnSync(process.execPath, [script, root, name, String(k)])
        isDead = signal === 'SIGKILL'
        expect(isDead || status === 0).toBe(true)
        expect([before, after], `killed before call ${k}`).toContain(await observe(root))
        const { memory, store } = await openAt(root)
        const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
        expect(findings.filter(({ ok }) => !ok)).toEqual([])
        await memory.close()
      }
    },
  )
})

it('tells a simulated death from a failure', () => {
  const { fileSystem } = dyingFileSystem(1)
  expect(() => fileSystem.unlinkSync('/nowhere')).toThrow(ProcessDied)
})
