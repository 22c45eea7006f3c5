import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readText } from './files.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  return { ...real, constants: { ...real.constants, O_NOFOLLOW: undefined, O_NONBLOCK: undefined } }
})

it('follows no link where the system opens nothing else, as on Windows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'recall-echoes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'elsewhere.md'), 'of somebody else')
  symlinkSync(join(folder, 'elsewhere.md'), join(folder, 'MEMORY.md'))
  expect(() => readText(join(folder, 'MEMORY.md'))).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.FORBIDDEN }),
  )
  expect(readText(join(folder, 'elsewhere.md'))).toBe('of somebody else')
  expect(readText(join(folder, 'absent.md'))).toBe(null)
})
