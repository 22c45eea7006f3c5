import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { thisProcess } from '@recall/core/process'
import { expect, it, onTestFinished, vi } from 'vitest'
import { withLock } from './lock.ts'

function lockPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'lock')
}

it('takes no lock from a process that lives, and gives up after fifteen seconds', async () => {
  const path = lockPath()
  mkdirSync(path)
  writeFileSync(join(path, '7'), JSON.stringify(thisProcess()))
  let now = 0
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => (now += 10_000))
  onTestFinished(() => clock.mockRestore())
  await expect(withLock(path, () => 'done')).rejects.toMatchObject({
    code: MemoryErrorCode.TIMEOUT,
    details: { path },
  })
  expect(now).toBe(30_000)
  expect(readdirSync(path)).toEqual(['7'])
})

it('leaves a few files behind, however often it is taken, and is free after a section that fails', async () => {
  const path = lockPath()
  for (let n = 0; n < 12; n++) {
    const failing = withLock(path, () => {
      throw new Error('failed')
    })
    await expect(failing).rejects.toThrow('failed')
  }
  expect(
    readdirSync(path)
      .filter((name) => name !== '.gitignore')
      .map(Number)
      .sort((a, b) => a - b),
  ).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12])
})

it('keeps what it leaves out of git, also where nothing did so before', async () => {
  const path = lockPath()
  mkdirSync(path)
  writeFileSync(join(path, '7'), JSON.stringify({ free: true }))
  await withLock(path, () => {})
  expect(readFileSync(join(path, '.gitignore'), 'utf8')).toBe('*\n')
  expect(readdirSync(path)).toEqual(['.gitignore', '7', '8'])
})

it('is taken where nothing can be kept out of git', async () => {
  const path = lockPath()
  mkdirSync(path)
  symlinkSync('nowhere', join(path, '.gitignore'))
  expect(await withLock(path, () => 'done')).toBe('done')
})

it('says which folder cannot be written', async () => {
  const path = lockPath()
  writeFileSync(path, 'no folder')
  await expect(withLock(path, () => 'done')).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: expect.stringMatching(/lock cannot be written \(EEXIST\)/),
  })
})

it('waits for who is about to write down that it holds the lock', async () => {
  const path = lockPath()
  mkdirSync(path)
  writeFileSync(join(path, '7'), '')
  let isDone = false
  const waiting = withLock(path, () => {
    isDone = true
  })
  expect(isDone).toBe(false)
  writeFileSync(join(path, '7'), JSON.stringify({ free: true }))
  await waiting
  expect(isDone).toBe(true)
})
