import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describeMemory, type Harness } from '@recall/core/conformance'
import { openFileMemory } from '../src/open-file-memory.ts'
import { temporaryRoot } from './temporary-root.ts'

function inOneProcess(between?: (root: string) => void): Harness {
  let root = ''
  return {
    open(options) {
      root = temporaryRoot()
      return openFileMemory({ root, ...options })
    },
    reopen: (options) => openFileMemory({ root, ...options }),
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
