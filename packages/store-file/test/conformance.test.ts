import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager } from '@recall/core'
import { describeMemory, type Harness } from '@recall/core/conformance'
import { afterAll, beforeAll } from 'vitest'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory } from '../src/open-file-memory.ts'
import { caseBlindFileSystem } from './support/case-blind-file-system.ts'
import { bundleScript } from './support/child-process.ts'
import { type StoreProcess, startStore, takingTurns } from './support/store-in-processes.ts'
import { temporaryRoot } from './support/temporary-root.ts'

function inOneProcess(between?: (root: string) => void, fileSystem = defaultFileSystem): Harness {
  let root = ''
  return {
    open(options) {
      root = temporaryRoot()
      return openFileMemory({ root, fileSystem, ...options })
    },
    reopen: (options) => openFileMemory({ root, fileSystem, ...options }),
    ...(between ? { between: async () => between(root) } : {}),
  }
}

/** Everything that is derived from the files; the access counts are not. */
const derived = /^(?:index|writers|lock)/

function removeInternal(root: string, pick: RegExp): void {
  const folder = join(root, 'memory', '.recall')
  const names = readdirSync(root).includes('memory') ? readdirSync(folder) : []
  for (const name of names) if (pick.test(name)) rmSync(join(folder, name), { recursive: true })
}

describeMemory('file', inOneProcess())
describeMemory(
  'file, without its index',
  inOneProcess((root) => removeInternal(root, derived)),
)
describeMemory(
  'file, without index.db but with its log',
  inOneProcess((root) => removeInternal(root, /^index\.db$/)),
)

describeMemory('file, on a disk that ignores case', inOneProcess(undefined, caseBlindFileSystem))

describeMemory('file, by turns in two processes', inTwoProcesses())

function inTwoProcesses(): Harness {
  const idle: StoreProcess[] = []
  let busy: StoreProcess[] = []
  let script = ''
  let root = ''
  beforeAll(async () => {
    script = await bundleScript('store-server.ts')
  })
  afterAll(() => Promise.all(idle.map((each) => each.kill())))
  const open: Harness['open'] = async (options) => {
    const two = [1, 2].map(() => idle.pop() ?? startStore(script))
    busy.push(...two)
    const [capabilities] = await Promise.all(two.map((each) => each.open(root)))
    if (!capabilities) throw new Error('no process')
    return createMemoryManager({ ...options, stores: takingTurns(two, capabilities) })
  }
  return {
    open(options) {
      root = temporaryRoot()
      return open(options)
    },
    reopen: open,
    async dispose() {
      const ending = busy
      busy = []
      await Promise.all(ending.map(({ call }) => call('close', [])))
      idle.push(...ending)
    },
  }
}
