import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support.ts'
import { openTranscript } from '../open-transcript.ts'
import { listImportable } from '../sources.ts'

it.runIf(process.platform !== 'win32')('refuses what can be read only once', async () => {
  for (const read of [openTranscript, listImportable])
    await expect(read('/dev/null')).rejects.toMatchObject({
      code: 'MEMORY_INVALID_INPUT',
      message: expect.stringContaining('is a pipe or a device'),
    })
})

it('refuses a folder', async () => {
  const folder = await temporaryFolder()
  await expect(openTranscript(folder)).rejects.toThrow('is a folder, not a transcript')
})
