import { MemoryErrorCode } from '@recall/core'
import { afterEach, expect, it, vi } from 'vitest'
import { loadSqlite } from './driver.ts'

vi.mock('@photostructure/sqlite', () => {
  throw new Error('No native build was found')
})

afterEach(() => void vi.unstubAllGlobals())

it('says what to do when no SQLite can be loaded', async () => {
  const versions = { ...process.versions, node: '22.12.0' }
  vi.stubGlobal('process', Object.create(process, { versions: { value: versions } }))
  await expect(loadSqlite()).rejects.toMatchObject({
    code: MemoryErrorCode.UNAVAILABLE,
    message: expect.stringMatching(/^@photostructure\/sqlite cannot be loaded: install it/),
  })
})
