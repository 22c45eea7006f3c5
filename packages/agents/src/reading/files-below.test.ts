import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { temporaryFolder } from '../../test/support.ts'
import { openTranscript } from '../open-transcript.ts'
import { listImportable } from '../sources.ts'
import { filesBelow, mayHoldSessions } from './files-below.ts'

// The folder `theirs` is one of another user, which also a test that runs as root may not list; `many` holds more files
// than a call takes arguments.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const files = Array.from({ length: 200_000 }, (_, i) => ({
    name: `${i}.jsonl`,
    isFile: () => true,
    isDirectory: () => false,
  }))
  const refused = Object.assign(new Error('EACCES'), { code: 'EACCES' })
  const ours = (name: 'readdir' | 'opendir') => async (path: string, options: object) => {
    if (path.endsWith('theirs')) throw refused
    if (path.endsWith('many')) return files
    return real[name](path, options)
  }
  return { ...real, readdir: ours('readdir'), opendir: ours('opendir') }
})

it('lists a folder that may not be read with the files around it, and opening it says so', async () => {
  const root = await temporaryFolder()
  for (const folder of ['ours', 'theirs']) {
    await mkdir(join(root, folder))
    await writeFile(join(root, folder, 'a.jsonl'), '{"role":"user","content":"hi"}\n')
  }
  const theirs = join(root, 'theirs')
  expect(await listImportable(root)).toEqual([join(root, 'ours', 'a.jsonl'), theirs])
  await expect(openTranscript(theirs)).rejects.toThrow(`${theirs} may not be read`)
})

it('lists however many files a folder holds', async () => {
  const root = await temporaryFolder()
  await mkdir(join(root, 'many'))
  expect(await filesBelow(root, () => true, mayHoldSessions)).toHaveLength(200_000)
})

it('refuses a folder that may not be read when it is the one that is named', async () => {
  const theirs = join(await temporaryFolder(), 'theirs')
  await mkdir(theirs)
  await expect(listImportable(theirs)).rejects.toThrow(`${theirs} may not be read`)
})
