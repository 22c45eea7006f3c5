import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { createFile, readText, removeFile, replaceFile } from './files.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  return { ...real, constants: { ...real.constants, O_NOFOLLOW: undefined, O_NONBLOCK: undefined } }
})

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-echoes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

it('follows no link where the system opens nothing else, as on Windows', () => {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'elsewhere.md'), 'of somebody else')
  symlinkSync(join(folder, 'elsewhere.md'), join(folder, 'MEMORY.md'))
  expect(() => readText(join(folder, 'MEMORY.md'))).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.FORBIDDEN }),
  )
  expect(readText(join(folder, 'elsewhere.md'))).toBe('of somebody else')
  expect(readText(join(folder, 'absent.md'))).toBe(null)
})

it('takes what cannot be read for no empty file', () => {
  const path = temporaryFolder()
  expect(() => readText(path)).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.UNAVAILABLE, details: { path } }),
  )
})

it.each([
  ['replaced', replaceFile],
  ['removed', removeFile],
])('names the path where a file cannot be %s, and leaves nothing beside it', (_, change) => {
  const folder = temporaryFolder()
  const path = join(folder, 'MEMORY.md')
  mkdirSync(path)
  expect(() => change(path, 'text')).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.WRITE_FAILED, details: { path } }),
  )
  expect(readdirSync(folder)).toEqual(['MEMORY.md'])
})

it('names the path where a file cannot be created', () => {
  const path = join(temporaryFolder(), `${'m'.repeat(300)}.md`)
  expect(() => createFile(path, 'text')).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.WRITE_FAILED, details: { path } }),
  )
})
