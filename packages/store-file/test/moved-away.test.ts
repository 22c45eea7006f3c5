import { cpSync, existsSync, mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { describe, expect, it, vi } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { interruptedFileSystem } from './support/faulty-file-system.ts'
import { fill, openAt, operations } from './support/operations.ts'
import { temporaryRoot } from './support/temporary-root.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

describe.each(['root', 'root/memory'])('a memory of which %s is moved away at any call', (moved) => {
  const making = /new scope|new section|of a conversation$|delete of a note/
  it.each(operations.filter(({ name }) => making.test(name)))('is not begun anew: $name', async ({ run }) => {
    const place = temporaryRoot()
    const full = join(place, 'full')
    mkdirSync(full)
    await fill(full)
    for (let k = 1, isReached = true; isReached; k++) {
      const here = join(place, `k${k}`)
      mkdirSync(here)
      cpSync(full, join(here, 'root'), { recursive: true })
      const move = (): void => renameSync(join(here, moved), join(here, 'away'))
      const { fileSystem, calls, arm } = interruptedFileSystem(k, move)
      const opened = await openAt(join(here, 'root'), fileSystem)
      arm()
      const error = await run(opened).catch((reason: unknown) => reason)
      isReached = !existsSync(join(here, moved)) || existsSync(join(here, 'away'))
      if (!isReached) move()
      const at = `before call ${k} of ${calls.length}`
      if (error instanceof Error) expect(isMemoryError(error), `${at}: ${error}`).toBe(true)
      await expect(opened.memory.write('long-term', 'later', 'text'), at).rejects.toMatchObject({
        code: 'MEMORY_UNAVAILABLE',
        message: expect.stringContaining('does not exist'),
      })
      await opened.memory.close()
      expect(existsSync(join(here, moved)), at).toBe(false)
    }
  })
})

it('a memory that is new gets its folder with the first write, not a second time', async () => {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root })
  await memory.write('long-term', 'note', 'text')
  renameSync(join(root, 'memory'), join(root, 'away'))
  await expect(memory.write('long-term', 'note', 'text')).rejects.toThrow('does not exist')
  expect(existsSync(join(root, 'memory'))).toBe(false)
  renameSync(join(root, 'away'), join(root, 'memory'))
  expect(await memory.read('long-term', 'note')).toBe('text')
  await memory.close()
})
