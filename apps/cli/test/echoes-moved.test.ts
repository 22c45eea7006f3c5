import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MemoryManager } from '@recall/core'
import { openFileMemory } from '@recall/store-file'
import { expect, it } from 'vitest'
import { entry, learning, memoryOf } from './echo-project.ts'
import { createShell, type Shell, temporaryFolder } from './support.ts'

const check = 'echoes of other projects'

/** Projects with echoes, in a folder that holds others too, and the memory that they share. */
async function shared(...names: string[]) {
  const home = temporaryFolder()
  const env = { RECALL_ROOT: join(home, 'memory-of-all') }
  const at = (name: string): Shell => createShell(join(home, 'code', name), null, env)
  mkdirSync(join(env.RECALL_ROOT, 'memory'), { recursive: true })
  for (const name of names) {
    mkdirSync(join(at(name).root, '.git'), { recursive: true })
    expect((await at(name).run('echoes', 'add', 'reviewer', name, ...entry)).code).toBe(0)
  }
  const shell = createShell(home, null, env)
  const inMemory = async <T>(call: (memory: MemoryManager) => Promise<T>): Promise<T> => {
    const memory = await openFileMemory({ root: env.RECALL_ROOT })
    try {
      return await call(memory)
    } finally {
      await memory.close()
    }
  }
  const found = async (): Promise<string[]> => {
    const matches = await inMemory((memory) => memory.search('long-term', { text: 'query' }))
    return matches.map(({ key }) => key.replace(/-[0-9a-f]{6}/, '')).sort()
  }
  const told = async (...options: string[]) => {
    const { findings } = await shell.json<{ findings: { check: string }[] }>('doctor', ...options)
    return findings.find((each) => each.check === check)
  }
  return { shell, at, found, told, inMemory }
}

it('names the copies that a moved project left, and removes them', async () => {
  const { shell, at, found, told } = await shared('api', 'web')
  expect(await told()).toBe(undefined)
  const before = at('api').root
  renameSync(before, at('api-v2').root)
  const path = join(at('api-v2').root, '.recall/echoes/reviewer/MEMORY.md')
  writeFileSync(path, memoryOf(at('api-v2')).replace(learning, 'Load it with one query and a join.'))
  expect((await at('api-v2').run('echoes', 'doctor')).code).toBe(0)
  const copies = ['api-v2', 'web'].map((name) => `echo:${name}/reviewer/traced-001`)
  expect(await found()).toEqual([...copies, 'echo:api/reviewer/traced-001'].sort())
  const folder = join(before, '.recall/echoes')
  expect(await told()).toMatchObject({
    ok: false,
    message: `${folder} is gone, of whose echoes the memory held 1 copy`,
    remedy: expect.stringContaining("'recall doctor --fix'"),
  })
  expect((await shell.run('doctor')).code).toBe(1)
  expect(await told('--fix')).toMatchObject({ ok: true, fixed: true })
  expect(await told()).toBe(undefined)
  expect(await found()).toEqual(copies)
})

it.each<[string, (project: string) => void]>([
  [
    'its disk is away, with what holds the project',
    (project) => rmSync(dirname(project), { recursive: true }),
  ],
  [
    'its disk is away, and its mount point empty',
    (project) => {
      rmSync(dirname(project), { recursive: true })
      mkdirSync(dirname(project))
    },
  ],
  [
    'it is a disk that is away, and an empty mount point',
    (project) => {
      rmSync(project, { recursive: true })
      mkdirSync(project)
    },
  ],
  [
    'it is a link to a disk that is away',
    (project) => {
      rmSync(project, { recursive: true })
      symlinkSync(join(dirname(project), 'nowhere'), project, 'junction')
    },
  ],
])('keeps the copies of a project of which nobody knows that it is gone: %s', async (_, takeAway) => {
  const { at, told, found } = await shared('web', 'api')
  takeAway(at('api').root)
  expect(await told('--fix')).toBe(undefined)
  expect(await found()).toContain('echo:api/reviewer/traced-001')
})

it('keeps the copies of a project that lies on another machine', async () => {
  const { at, told, found, inMemory } = await shared('web', 'api')
  rmSync(at('api').root, { recursive: true })
  await inMemory(async (memory) => {
    for (const { key, value } of await memory.search<object>('long-term', { tags: ['echo'] }))
      await memory.write('long-term', key, { ...value, host: 'another machine' }, { tags: ['echo'] })
  })
  expect(await told('--fix')).toBe(undefined)
  expect(await found()).toContain('echo:api/reviewer/traced-001')
})
