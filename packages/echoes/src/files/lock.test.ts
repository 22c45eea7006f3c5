import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, onTestFinished } from 'vitest'
import { withLock } from './lock.ts'

it('says which folder cannot be written', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'recall-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'lock')
  writeFileSync(path, 'no folder')
  await expect(withLock(path, () => 'done')).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: expect.stringMatching(/lock cannot be written \(EEXIST\)/),
  })
})
