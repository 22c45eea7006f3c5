import * as fs from 'node:fs'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { keyFileOf, reserveKeyFile } from '../src/hub-access.ts'
import type { Io } from '../src/terminal/io.ts'
import { temporaryFolder } from './support.ts'

const done = vi.hoisted((): string[] => [])
vi.mock('node:fs', async (original) => {
  const actual = await original<typeof fs>()
  return {
    ...actual,
    fsyncSync(file: number) {
      done.push(actual.fstatSync(file).isDirectory() ? 'folder on disk' : 'file on disk')
      actual.fsyncSync(file)
    },
    renameSync(from: string, to: string) {
      done.push('renamed')
      actual.renameSync(from, to)
    },
  }
})

it('a new key is on the disk before it is told, and so is its name', () => {
  const path = join(temporaryFolder(), 'hub.json')
  reserveKeyFile(path).keep({ url: 'http://hub.example', apiKey: 'recall_new' })
  // Windows opens no folders.
  const folder = process.platform === 'win32' ? [] : ['folder on disk']
  expect(done).toEqual(['file on disk', 'renamed', ...folder])
  expect(JSON.parse(fs.readFileSync(path, 'utf8'))).toEqual({
    url: 'http://hub.example',
    api_key: 'recall_new',
  })
})

it('a key is kept also where a process of the same number was killed before it had one', () => {
  const path = join(temporaryFolder(), 'hub.json')
  reserveKeyFile(path)
  reserveKeyFile(path).keep({ url: 'http://hub.example', apiKey: 'recall_new' })
  expect(fs.existsSync(path)).toBe(true)
})

it.each([undefined, '', 'conf', './conf'])(
  'looks for the key at home when XDG_CONFIG_HOME is %o',
  (folder) => {
    const io = { cwd: '/project', home: '/home/ada', env: { XDG_CONFIG_HOME: folder } } as unknown as Io
    expect(keyFileOf(io, {})).toBe(join('/home/ada', '.config/recall/hub.json'))
  },
)
