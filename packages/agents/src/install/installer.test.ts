import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support.ts'
import { install, installedNames, uninstall } from './installer.ts'
import { jsonFile } from './json-file.ts'

/** A host of one settings file, in which a hook of ours runs a command. */
async function setUp() {
  const home = await temporaryFolder()
  const [path, state] = [join(home, 'settings.json'), join(home, 'state')]
  const edits = (command: string) => [jsonFile(path, [{ at: ['Stop'], hook: { command } }])]
  return {
    path,
    state,
    install: (command: string) => install('host', edits(command), { state }),
    uninstall: (command?: string) => uninstall('host', command ? edits(command) : [], { state }),
  }
}
const [earlier, present] = ['recall hook stop --root /old', 'recall hook stop --root /new']

it('leaves nothing of ours after an installation whose record was lost was brought up to date', async () => {
  const host = await setUp()
  host.install(earlier)
  rmSync(host.state, { recursive: true })
  host.install(present)
  expect(host.uninstall(present)).toMatchObject([{ status: 'removed' }])
  expect(existsSync(host.path)).toBe(false)
})

it('removes no file that was there before, also when nothing but our part is left in it', async () => {
  const host = await setUp()
  writeFileSync(host.path, ' \n')
  host.install(present)
  writeFileSync(host.path, readFileSync(host.path, 'utf8').replace(/\s+/g, ' '))
  expect(host.uninstall(present)).toMatchObject([{ status: 'edited' }])
  expect(readFileSync(host.path, 'utf8')).toBe(' \n')
})

it('says what it cannot take back of an earlier version, and does not forget it', async () => {
  const host = await setUp()
  host.install(earlier)
  writeFileSync(host.path, readFileSync(host.path, 'utf8').replace('/old', '/moved'))
  expect(host.uninstall()).toMatchObject([{ status: 'refused' }])
  expect(installedNames(host.state)).toEqual(['host'])
})

it('changes nothing of a file whose backup is missing, and does not forget it', async () => {
  const host = await setUp()
  writeFileSync(host.path, '{"theme": "dark"}')
  host.install(present)
  const installed = readFileSync(host.path, 'utf8')
  rmSync(join(host.state, 'host/original-1'))
  expect(host.uninstall(present)).toMatchObject([
    { status: 'refused', reason: expect.stringContaining('original-1 is missing: nothing was changed') },
  ])
  expect(readFileSync(host.path, 'utf8')).toBe(installed)
  expect(installedNames(host.state)).toEqual(['host'])
})

it('takes no empty folder for an installation', async () => {
  const { state } = await setUp()
  mkdirSync(join(state, 'host'), { recursive: true })
  expect(installedNames(state)).toEqual([])
})
