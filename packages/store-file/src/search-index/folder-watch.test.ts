import { type FSWatcher, mkdirSync, renameSync, rmSync, watch as watchFolders, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { isLinux } from '../../test/support/platform.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { createFolderWatch, type ToldChanges } from './folder-watch.ts'

vi.mock('node:fs', async (importOriginal) => {
  const original = await importOriginal<typeof import('node:fs')>()
  return { ...original, watch: vi.fn(original.watch) }
})

/** A watch of a folder that has begun; the clock stands still. */
async function watchFolder() {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const folder = temporaryRoot()
  const folders = [folder]
  const watch = createFolderWatch(defaultFileSystem)
  onTestFinished(() => watch.close())
  const looks: ToldChanges[] = []
  const look = async (): Promise<void> => {
    watch.checked(
      () => folders,
      (told) => looks.push(told),
    )
    await watch.settle()
  }
  for (let i = 0; i < 4; i++) await look()
  return { folder, folders, watch, look, looks }
}

it('trusts what the system tells for a second only, because remote disks tell nothing', async () => {
  const { watch, look, looks } = await watchFolder()
  expect(watch.isQuiet()).toBe(isLinux)
  vi.advanceTimersByTime(1000)
  expect(watch.isQuiet()).toBe(false)
  await look()
  expect(looks.at(-1)).toMatchObject({ named: [], areAll: false })
  expect(watch.isQuiet()).toBe(isLinux)
})

it.runIf(isLinux)('trusts what names the changes no longer than it looked at everything else', async () => {
  const { folder, watch, look, looks } = await watchFolder()
  vi.advanceTimersByTime(900)
  writeFileSync(join(folder, 'a.md'), 'text')
  await watch.settle()
  await look()
  expect(looks.at(-1)).toMatchObject({ named: [join(folder, 'a.md')], areAll: true })
  vi.advanceTimersByTime(100)
  expect(watch.isQuiet()).toBe(false)
})

it.runIf(isLinux)('looks at everything when it begins to watch one more folder', async () => {
  const { folders, watch, look, looks } = await watchFolder()
  folders.push(temporaryRoot())
  await look()
  expect(looks.at(-1)?.areAll).toBe(false)
  expect(watch.isQuiet()).toBe(false)
  await look()
  expect(watch.isQuiet()).toBe(true)
})

it.runIf(isLinux)('watches a folder that took the place of another', async () => {
  const { folder, watch, look, looks } = await watchFolder()
  renameSync(folder, `${folder}-aside`)
  onTestFinished(() => rmSync(`${folder}-aside`, { recursive: true }))
  mkdirSync(folder)
  await watch.settle()
  for (let i = 0; i < 2; i++) await look()
  expect(watch.isQuiet()).toBe(true)
  writeFileSync(join(folder, 'a.md'), 'text')
  await watch.settle()
  expect(watch.isQuiet()).toBe(false)
  await look()
  expect(looks.at(-1)?.named).toEqual([join(folder, 'a.md')])
})

it.runIf(isLinux)('is not quiet after a change that the system tells without a name', async () => {
  const { folder, watch, look, looks } = await watchFolder()
  type Listener = (event: string, name: null) => void
  const lastCall = vi.mocked(watchFolders).mock.lastCall as unknown as [string, object, Listener]
  const [watched, , tell] = lastCall
  expect(watched).toBe(folder)
  tell('change', null)
  expect(watch.isQuiet()).toBe(false)
  await look()
  expect(looks.at(-1)).toMatchObject({ named: [], areAll: false })
})

it.runIf(isLinux)('looks at everything each time once a watch has failed', async () => {
  const { watch, look, looks } = await watchFolder()
  const watcher = vi.mocked(watchFolders).mock.results.at(-1)?.value as FSWatcher
  watcher.emit('error', new Error('gone'))
  for (let i = 0; i < 2; i++) await look()
  expect(watch.isQuiet()).toBe(false)
  expect(looks.at(-1)?.areAll).toBe(false)
})

it.runIf(isLinux)('looks at everything each time where the system has no more watches to give', async () => {
  const { folders, watch, look } = await watchFolder()
  onTestFinished(() => void vi.mocked(watchFolders).mockReset())
  folders.push(temporaryRoot())
  for (let i = 0; i < 3; i++) {
    vi.mocked(watchFolders).mockImplementationOnce(() => {
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    })
    await look()
  }
  expect(watch.isQuiet()).toBe(false)
})

it('is not quiet after a look that failed', async () => {
  const { watch, look, looks } = await watchFolder()
  const fail = () => {
    throw new Error('away')
  }
  expect(() => watch.checked(() => [], fail)).toThrow('away')
  expect(watch.isQuiet()).toBe(false)
  await look()
  expect(looks.at(-1)?.areAll).toBe(false)
})

it.runIf(isLinux)(
  'forgets the names of changes that nobody asks for, and tells that there were too many',
  async () => {
    const { folder, watch, look, looks } = await watchFolder()
    type Listener = (event: string, name: string) => void
    const [, , tell] = vi.mocked(watchFolders).mock.lastCall as unknown as [string, object, Listener]
    for (let i = 0; i < 1000; i++) tell('change', `${i}.md`)
    await look()
    expect(looks.at(-1)).toMatchObject({ areAll: true, tooMany: false })
    expect(looks.at(-1)?.named).toHaveLength(1000)
    for (let i = 0; i <= 2000; i++) tell('change', `${i}.md`)
    expect(watch.isQuiet()).toBe(false)
    expect(() =>
      watch.checked(
        () => [folder],
        () => {
          throw new Error('away')
        },
      ),
    ).toThrow('away')
    await look()
    expect(looks.at(-1)).toEqual({ named: [], areAll: false, tooMany: true })
    await look()
    expect(looks.at(-1)).toEqual({ named: [], areAll: true, tooMany: false })
    expect(watch.isQuiet()).toBe(true)
  },
)
