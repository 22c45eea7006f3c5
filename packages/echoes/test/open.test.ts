import { existsSync } from 'node:fs'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, onTestFinished } from 'vitest'
import { openEchoes } from '../src/index.ts'
import { entryOf } from './support.ts'

const newFolder = async (): Promise<string> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'echoes-')))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

it('stays in the folder that a relative root named when it was opened', async () => {
  const [project, elsewhere, before] = [await newFolder(), await newFolder(), process.cwd()]
  onTestFinished(() => process.chdir(before))
  process.chdir(project)
  const echoes = openEchoes({ root: 'echoes' })
  process.chdir(elsewhere)
  await echoes.add('reviewer', entryOf())
  expect(echoes.roles()).toEqual(['reviewer'])
  expect(existsSync(join(project, 'echoes/reviewer/MEMORY.md'))).toBe(true)
  expect(existsSync(join(elsewhere, 'echoes'))).toBe(false)
})

it.each([undefined, null, 5])('knows no role of the name %j', async (role) => {
  const echoes = openEchoes({ root: await newFolder() })
  const invalid = { code: MemoryErrorCode.INVALID_INPUT }
  await expect(echoes.read(role as never)).rejects.toMatchObject(invalid)
  await expect(echoes.add(role as never, entryOf())).rejects.toMatchObject(invalid)
  await expect(echoes.planPrune(role as never)).rejects.toMatchObject(invalid)
  expect(echoes.roles()).toEqual([])
})

it.each([
  [['inscribed-001'], 'w'],
  ['', ['inscribed-001']],
  ['w', 'inscribed-001'],
  ['w', [7]],
])('keeps no reference of the workflow %j to %j', async (workflow, ids) => {
  const echoes = openEchoes({ root: await newFolder() })
  await echoes.add('reviewer', entryOf())
  await expect(echoes.reference('reviewer', workflow as never, ids as never)).rejects.toMatchObject({
    code: MemoryErrorCode.INVALID_INPUT,
  })
  await echoes.reference('reviewer', 'w', ['inscribed-001'])
  expect((await echoes.read('reviewer')).echoes).toMatchObject([{ references: 1 }])
})

it.each([undefined, '', 7])('refuses %j for a root', (root) => {
  expect(() => openEchoes({ root } as never)).toThrow(
    expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }),
  )
})

it.each([
  [{ leed: true }, /Unrecognized key: "leed"/],
  [{ lead: 'false' }, /options\.lead: must be true or false/],
  [{ askHuman: true }, /options\.askHuman: must be a function/],
  [{ policy: { lineLimit: Number.NaN } }, /options\.policy\.lineLimit: must be a number of lines/],
  [{ policy: { lineLimit: 0 } }, /options\.policy\.lineLimit: must be above 0/],
  [{ policy: { lines: 150 } }, /Unrecognized key: "lines"/],
  [{ clock: 7 }, /options\.clock: must be a function/],
])('refuses the options %j', (options, message) => {
  expect(() => openEchoes({ root: 'echoes', ...(options as object) })).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringMatching(message),
    }),
  )
})

it('takes options that are not given for absent', async () => {
  const echoes = openEchoes({ root: await newFolder(), lead: undefined, policy: undefined } as never)
  expect(echoes.roles()).toEqual([])
})

it.each([undefined, 7, 'constructor', 'inscribed-002'])('restores no entry of the id %j', async (id) => {
  const echoes = openEchoes({ root: await newFolder() })
  await echoes.add('reviewer', entryOf())
  await expect(echoes.restoreEntry('reviewer', id as never)).rejects.toMatchObject({
    code: MemoryErrorCode.NOT_FOUND,
  })
})
