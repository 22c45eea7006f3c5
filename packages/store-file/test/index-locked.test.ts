import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { loadSqlite } from '../src/sqlite/driver.ts'
import { fill, internal } from './index-answers.ts'
import { temporaryRoot } from './temporary-root.ts'

// Nobody lets go in this test: waiting for long would tell nothing more.
vi.mock('../src/sqlite/write-ahead-log.ts', async (original) => ({
  ...(await original<typeof import('../src/sqlite/write-ahead-log.ts')>()),
  busyMs: 50,
}))

it('says what to do when another process hangs and holds the index', async () => {
  const root = temporaryRoot()
  await fill(root, 20)
  const holder = (await loadSqlite())(join(internal(root), 'index.db'))
  onTestFinished(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  writeFileSync(join(root, 'memory/long-term/new.md'), 'The zebra crosses.')
  const memory = await openFileMemory({ root })
  await expect(memory.search('long-term', { text: 'zebra' })).rejects.toMatchObject({
    code: MemoryErrorCode.TIMEOUT,
    message: expect.stringContaining('end it, or try again'),
  })
  holder.exec('ROLLBACK')
  expect(await memory.search('long-term', { text: 'zebra' })).toHaveLength(1)
  await memory.close()
})
