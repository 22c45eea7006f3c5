import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support.ts'
import { install } from './install.ts'
import { installedNames } from './installed.ts'
import { jsonFile } from './json-file.ts'
import { ownFile } from './own-file.ts'
import { tomlTable } from './toml-table.ts'
import { uninstall } from './uninstall.ts'

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

it('brings nothing back that a person took out since the installation', async () => {
  const host = await setUp()
  writeFileSync(host.path, '{"Stop": [{"command": "other"}]}')
  host.install(earlier)
  const ours = '{"Stop": [{"command": "recall hook stop --root /old"}]}'
  writeFileSync(host.path, ours)
  expect(host.uninstall(earlier)).toMatchObject([{ status: 'edited' }])
  expect(readFileSync(host.path, 'utf8')).toBe('{}\n')

  writeFileSync(host.path, '{"Stop": [{"command": "other"}]}')
  host.install(earlier)
  writeFileSync(host.path, ours)
  host.install(present)
  expect(host.uninstall(present)).toMatchObject([{ status: 'restored' }])
  expect(readFileSync(host.path, 'utf8')).toBe('{}\n')
})

it('names a file in which our part stands in a form that it does not know', async () => {
  const { path, state } = await setUp()
  const edits = [tomlTable(path, ['mcp', 'recall'], { command: 'recall' })]
  install('host', edits, { state })
  writeFileSync(path, 'mcp.recall.command = "recall"\n')
  expect(uninstall('host', edits, { state })).toMatchObject([
    { status: 'kept', reason: expect.stringContaining('mentions recall') },
  ])
  install('host', [tomlTable(path, ['mcp', 'mine'], { command: 'mine' })], { state })
  writeFileSync(path, 'model = "m"\n')
  expect(uninstall('host', edits, { state })).toMatchObject([{ status: 'absent' }])
})

describe('a file of its own whose new text was noted and not written', () => {
  /** As after a kill, a full disk or a folder that may not be written. */
  async function interrupted(theirs?: string) {
    const { path, state } = await setUp()
    const put = (text: string, replace: string[] = []) =>
      install('host', [ownFile(path, text)], { state, replace })
    if (theirs !== undefined) writeFileSync(path, theirs)
    put('first', [path])
    const first = readFileSync(path)
    for (const text of ['second', 'third']) {
      put(text)
      writeFileSync(path, first)
    }
    return { path, state, put }
  }

  it('is brought up to date by the next installation', async () => {
    const { path, put } = await interrupted()
    expect(put('fourth')).toMatchObject([{ status: 'changed' }])
    expect(readFileSync(path, 'utf8')).toBe('fourth')
  })

  it('is taken out, and what stood there before comes back', async () => {
    for (const theirs of [undefined, 'theirs']) {
      const { path, state } = await interrupted(theirs)
      const [outcome] = uninstall('host', [ownFile(path, 'third')], { state })
      expect(outcome).toMatchObject({ status: theirs ? 'restored' : 'removed' })
      expect(existsSync(path) ? readFileSync(path, 'utf8') : undefined).toBe(theirs)
    }
  })

  it('leaves the file of a person alone that it has not replaced yet', async () => {
    const { path, state, put } = await interrupted('theirs')
    writeFileSync(path, 'theirs')
    expect(put('fourth')).toMatchObject([{ status: 'refused' }])
    expect(uninstall('host', [ownFile(path, 'third')], { state })).toMatchObject([{ status: 'absent' }])
    expect(readFileSync(path, 'utf8')).toBe('theirs')
  })
})

it('says what it cannot take back of an earlier installation, and does not forget it', async () => {
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
