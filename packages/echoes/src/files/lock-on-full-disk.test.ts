import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { withLock } from './lock.ts'

const disk = vi.hoisted(() => ({ isFull: false, isReadOnly: false }))

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  const refuse = (code: string): never => {
    throw Object.assign(new Error(`${code}: simulated`), { code })
  }
  const fileSystem: Partial<typeof real> = {
    writeFileSync(path, content, options) {
      real.writeFileSync(path, disk.isFull ? '' : content, options)
      if (disk.isFull) refuse('ENOSPC')
    },
    unlinkSync(path) {
      if (disk.isReadOnly) refuse('EROFS')
      real.unlinkSync(path)
    },
  }
  return { ...real, ...fileSystem, default: { ...real, ...fileSystem } }
})

beforeEach(() => {
  Object.assign(disk, { isFull: false, isReadOnly: false })
})

function lockPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-lock-'))
  onTestFinished(() => {
    disk.isReadOnly = false
    rmSync(folder, { recursive: true })
  })
  return join(folder, 'lock')
}

it('lets go of the lock where nothing can be written any more, and leaves nothing unfinished', async () => {
  const lock = lockPath()
  await withLock(lock, () => 'first')
  const fill = (): string => {
    disk.isFull = true
    return 'done'
  }
  expect(await withLock(lock, fill)).toBe('done')
  expect(readdirSync(lock)).toEqual(['.gitignore', '1'])
  disk.isFull = false
  let isDone = false
  const taking = withLock(lock, () => {
    isDone = true
  })
  // Who has to wait for the lock is not done by now.
  expect(isDone).toBe(true)
  await taking
  expect(readdirSync(lock).sort()).toEqual(['.gitignore', '1', '2'])
})

it.each([false, true])(
  'gives what the section threw or returned, also on a disk that is read-only: %o',
  async (is) => {
    const fill = (): string => {
      Object.assign(disk, { isFull: true, isReadOnly: is })
      return 'done'
    }
    expect(await withLock(lockPath(), fill)).toBe('done')
    Object.assign(disk, { isFull: false, isReadOnly: false })
    const failing = withLock(lockPath(), () => {
      throw new Error(`failed when ${fill()}`)
    })
    await expect(failing).rejects.toThrow('failed when done')
  },
)
