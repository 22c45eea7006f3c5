import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  isShortLived,
  ownCommand,
  readPayload,
  readText,
  startDetached,
  workingFolder,
} from '../src/own-process.ts'
import { installedHub } from '../src/start-hub.ts'
import { temporaryFolder } from './support.ts'

const stdin = () => new PassThrough() as unknown as NodeJS.ReadStream & PassThrough

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

describe('readText', () => {
  it('waits for the end, however long its writer takes', async () => {
    const stream = stdin()
    const text = readText(stream)
    await vi.advanceTimersByTimeAsync(60_000)
    stream.write('{"first": "half"}')
    await vi.advanceTimersByTimeAsync(60_000)
    stream.end('\nand the second, ü')
    expect(await text).toBe('{"first": "half"}\nand the second, ü')
  })

  it('gives nothing where a person sits, and refuses what has no end or another encoding', async () => {
    expect(await readText(Object.assign(stdin(), { isTTY: true }))).toBe('')
    const stream = stdin()
    stream.end(Buffer.alloc(5 * 1024 * 1024, 'a'))
    await expect(readText(stream)).rejects.toThrow('standard input holds more than')
    const other = stdin()
    other.end(Buffer.from('Zürich', 'latin1'))
    await expect(readText(other)).rejects.toThrow('not UTF-8')
  })
})

describe('readPayload', () => {
  it('is content with one JSON value, although the host keeps the pipe open', async () => {
    const stream = stdin()
    const payload = readPayload(stream)
    stream.write('{"session')
    stream.write('_id": "a"}\n')
    expect(JSON.parse(await payload)).toEqual({ session_id: 'a' })
  })

  it('gives up a host that says nothing', async () => {
    const payload = readPayload(stdin())
    await vi.advanceTimersByTimeAsync(1000)
    expect(await payload).toBe('')
  })
})

it('starts a process for a user without a home', async () => {
  vi.stubEnv('HOME', '/nowhere/at/all')
  const path = join(temporaryFolder(), 'socket')
  const server = createServer()
  onTestFinished(() => void server.close())
  const called = new Promise((resolve) => server.once('connection', resolve))
  await new Promise<void>((resolve) => server.listen(path, resolve))
  await startDetached(['-e', 'require("node:net").connect(process.argv[1]).end()', path])
  await called
})

it('goes on in a folder that was deleted', () => {
  const gone = (): string => {
    throw new Error('ENOENT: no such file or directory, uv_cwd')
  }
  expect(workingFolder({ PWD: '/home/ana/worktree' }, gone)).toBe('/home/ana/worktree')
  expect(workingFolder({}, gone)).not.toBe('')
  expect(workingFolder({ PWD: '/elsewhere' })).toBe(process.cwd())
})

describe('the command that hosts are given', () => {
  const place = () => {
    const folder = temporaryFolder()
    const script = join(folder, 'recall.cjs')
    const execPath = join(folder, 'node.exe')
    for (const path of [script, execPath]) writeFileSync(path, '')
    const command = (PATH: string, platform: NodeJS.Platform) =>
      ownCommand(script, { env: { PATH }, execPath, execArgv: [], platform })
    return { folder, script, execPath, command }
  }

  it('is the name of the program where the PATH leads to it, else Node and the script', () => {
    const { folder, script, execPath, command } = place()
    expect(command(folder, 'linux')).toEqual([execPath, script])
    symlinkSync(script, join(folder, 'recall'))
    expect(command(['', '/nowhere', folder].join(delimiter), 'linux')).toEqual(['recall'])
  })

  it('is not a name that only npx, or a script of a package, puts on the PATH', () => {
    const { folder, script, execPath, command } = place()
    const bin = join(folder, 'node_modules/.bin')
    mkdirSync(bin, { recursive: true })
    symlinkSync(script, join(bin, 'recall'))
    expect(command([bin, '/nowhere'].join(delimiter), 'linux')).toEqual([execPath, script])
  })

  it.each([
    ['/home/ana/.npm/_npx/5f7878ce38f1eb13/node_modules/@recall/cli/dist/recall.cjs', true],
    ['C:\\Users\\ana\\AppData\\Local\\npm-cache\\_npx\\5f78\\node_modules\\.bin\\recall', true],
    ['/home/ana/.cache/pnpm/dlx/k3x/node_modules/.bin/recall', true],
    ['/tmp/bunx-1000-recall/node_modules/.bin/recall', true],
    ['/usr/local/lib/node_modules/@recall/cli/dist/recall.cjs', false],
    ['/home/ana/dlx.git/recall.cjs', false],
  ])('is known to be gone some day: %s, %s', (script, expected) => {
    expect(isShortLived(['/usr/bin/node', script])).toBe(expected)
  })

  it('begins on Windows with the name of Node, which needs no quotes, where the PATH leads to it', () => {
    const { folder, script, execPath, command } = place()
    expect(command(folder, 'win32')).toEqual(['node', script])
    expect(command('/nowhere', 'win32')).toEqual([execPath, script])
  })
})

it('starts a hub on Windows without the script that the PATH leads to', () => {
  const folder = temporaryFolder()
  const file = join(folder, 'recall-hub')
  expect(installedHub(folder, 'win32')).toBe(undefined)
  writeFileSync(
    file,
    'if [ -x "$basedir/node" ]; then\n  exec "$basedir/node"  "$basedir/node_modules/@recall/hub/dist/main.js" "$@"\nfi\n',
  )
  const program = join(folder, 'node_modules/@recall/hub/dist/main.js')
  expect(installedHub(`/nowhere${delimiter}${folder}`, 'win32')).toEqual([process.execPath, program])
  expect(installedHub(folder, 'linux')).toEqual([file])
})
