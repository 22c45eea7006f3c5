import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { thisProcess } from '@recall/core/process'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createFile } from './files.ts'
import { withLock } from './lock.ts'

/** As on a stick formatted with exFAT. */
vi.mock('node:fs', async (original) => {
  const fileSystem = await original<typeof import('node:fs')>()
  const linkSync = (): never => {
    throw Object.assign(new Error('operation not permitted'), { code: 'EPERM' })
  }
  return { ...fileSystem, linkSync, default: { ...fileSystem, linkSync } }
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'recall-echoes-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

it('locks where there are no hard links', async () => {
  const lock = join(folder(), 'lock')
  expect(await withLock(lock, () => JSON.parse(readFileSync(join(lock, '1'), 'utf8')))).toEqual(thisProcess())
  expect(await withLock(lock, () => readdirSync(lock).sort())).toEqual(['.gitignore', '1', '2'])
  expect(JSON.parse(readFileSync(join(lock, '2'), 'utf8'))).toEqual({ free: true })
})

it('lets one after the other in', async () => {
  const lock = join(folder(), 'lock')
  let count = 0
  await Promise.all(Array.from({ length: 10 }, () => withLock(lock, () => count++)))
  expect(count).toBe(10)
})

it('creates a file only under a name that is free', () => {
  const path = join(folder(), 'docs', 'a.md')
  expect(createFile(path, 'first')).toBe(true)
  expect(createFile(path, 'second')).toBe(false)
  expect(readFileSync(path, 'utf8')).toBe('first')
  writeFileSync(path, '')
  expect(createFile(path, 'third')).toBe(false)
  expect(readdirSync(join(path, '..'))).toEqual(['a.md'])
})
