import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, vi } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem } from './file-system.ts'
import { readText } from './read-text.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof import('node:fs')>()
  return { ...real, constants: { ...real.constants, O_NOFOLLOW: undefined, O_NONBLOCK: undefined } }
})

it('follows no link where the system opens nothing else, as on Windows', () => {
  const folder = temporaryRoot()
  writeFileSync(join(folder, 'elsewhere.md'), 'of somebody else')
  symlinkSync(join(folder, 'elsewhere.md'), join(folder, 'note.md'))
  expect(() => readText(defaultFileSystem, join(folder, 'note.md'))).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.FORBIDDEN }),
  )
  expect(readText(defaultFileSystem, join(folder, 'elsewhere.md'))?.content).toBe('of somebody else')
  expect(readText(defaultFileSystem, join(folder, 'absent.md'))).toBe(null)
})
