import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openListeningHub, type TestHub } from './listening-hub.ts'
import { hasProgram, type Ran, runProgram } from './run-program.ts'
import { root } from './workspace.ts'

const python = hasProgram('python3', ['--version'], 'the client for Python')
const curl = hasProgram('curl', ['--version'], 'the client for the shell')
const isolate = ['--map-root-user', '--net', '--mount']
const twoHosts =
  python && hasProgram('unshare', [...isolate, 'ip', 'netns', 'list'], 'the demo on two network namespaces')

const clients = join(root, 'clients/python')
const bare = { PYTHONPATH: clients, PYTHONDONTWRITEBYTECODE: '1' }

let hub: TestHub
beforeAll(async () => {
  // On all addresses, so that agents can come by two of them.
  hub = await openListeningHub({ host: '0.0.0.0' })
})
afterAll(() => hub.close())
const hubAt = (address: string): string => `http://${address}:${new URL(hub.url).port}`

it.skipIf(!python)('the client for Python passes its own tests, none left out', async () => {
  const ran = await runProgram('python3', ['-m', 'unittest'], {
    cwd: clients,
    env: { ...bare, RECALL_TEST_HUB_URL: hubAt('127.0.0.1') },
  })
  expect(ran).toMatchObject({ code: 0, err: expect.stringMatching(/\nOK\n$/) })
})

describe('clients/curl/recall.sh', () => {
  const recall = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    runProgram('sh', [join(root, 'clients/curl/recall.sh'), ...args], {
      env: { RECALL_KEY_FILE: join(hub.folder, 'curl.json'), ...env },
    })
  const content = `It says "no", and C:\\temp\ttoo.\nThe pool leaks under löad until the retry path releases its client 🙂.`

  it.skipIf(!curl)('does what an agent does, with any text', async () => {
    const registered = await recall(['register', hubAt('127.0.0.1'), 'shell "agent"'])
    expect(registered).toMatchObject({ code: 0, out: expect.stringContaining('shell \\"agent\\"') })
    expect(registered.out).not.toContain('recall_')
    const saved = await recall(['save', content, 'pool,leak', 'https://example.com/42'])
    const { short_id: id } = JSON.parse(saved.out) as { short_id: string }
    const found = await recall(['search', 'the pool leaks under load & the retry path', '1'])
    expect(JSON.parse(found.out)).toMatchObject({
      results: [{ short_id: id, content, tags: ['pool', 'leak'] }],
    })
    expect(JSON.parse((await recall(['get', id])).out)).toMatchObject({ memory: { content } })
    expect(JSON.parse((await recall(['cite', id])).out)).toMatchObject({ citation: `Recall #${id}` })
    expect((await recall(['rotate-key'])).err).toContain('the new key is in')
    expect(JSON.parse((await recall(['whoami'])).out)).toMatchObject({ agent: { name: 'shell "agent"' } })
    expect(JSON.parse((await recall(['delete', id])).out)).toMatchObject({ status: 'deleted' })
  })

  it.skipIf(!curl)('takes the base of the API, as the skill file names it, for the address', async () => {
    const base = `${hubAt('127.0.0.1')}/api/v1`
    const env = { RECALL_KEY_FILE: join(hub.folder, 'based.json'), RECALL_API_URL: base }
    expect(await recall(['register', `${base}/`, 'based'], env)).toMatchObject({ code: 0 })
    expect(await recall(['whoami'], env)).toMatchObject({ code: 0, out: expect.stringContaining('based') })
    const kept = JSON.parse(await readFile(env.RECALL_KEY_FILE, 'utf8')) as { url: string }
    expect(kept.url).toBe(hubAt('127.0.0.1'))
  })

  it.skipIf(!curl)('says with its exit code what is wrong, and keeps the key it has', async () => {
    expect((await recall(['get', 'RCL-00000000'])).code).toBe(1)
    expect((await recall(['save', 'short', 'one'])).code).toBe(2)
    expect((await recall(['get', '../agents/me'])).code).toBe(2)
    expect((await recall(['register', hubAt('127.0.0.1'), 'again'])).err).toContain('holds a key already')
    const wrong = { RECALL_API_URL: hubAt('127.0.0.1'), RECALL_API_KEY: 'recall_unknown' }
    expect((await recall(['whoami'], wrong)).code).toBe(3)
  })

  it.skipIf(!curl)(
    'works without a home folder, and asks for a place of the key where it needs one',
    async () => {
      const homeless = { HOME: '', XDG_CONFIG_HOME: 'relative', RECALL_KEY_FILE: '' }
      const registered = await recall(['register', hubAt('127.0.0.1'), 'ada'], homeless)
      expect(registered).toMatchObject({ code: 2, err: expect.stringContaining('set RECALL_KEY_FILE') })
      expect(await recall(['whoami'], homeless)).toMatchObject({ code: 2, err: registered.err })
      const given = { RECALL_API_URL: hubAt('127.0.0.1'), RECALL_API_KEY: 'recall_unknown' }
      expect((await recall(['whoami'], { ...homeless, ...given })).err).toContain('the hub answered 401')
    },
  )

  it.skipIf(!curl)('refuses an address that no other client would take, and keeps no key of it', async () => {
    const file = join(hub.folder, 'refused.json')
    const refused = { code: 2, out: '', err: expect.stringContaining('looks like https://') }
    const bare = hubAt('127.0.0.1').replace('http://', '')
    const wrong = [bare, `ftp://${bare}`, 'http://', `http://${bare}?a`, `http://${bare}#a`]
    for (const url of [...wrong, `http://${bare}/"`, `http://${bare}/a b`, `http://${bare}/\n`]) {
      expect(await recall(['register', url, 'ada'], { RECALL_KEY_FILE: file }), url).toMatchObject(refused)
      const given = { RECALL_API_URL: url, RECALL_API_KEY: 'recall_unknown' }
      expect(await recall(['whoami'], given), url).toMatchObject(refused)
    }
    expect(await readdir(hub.folder)).not.toContain('refused.json')
    await writeFile(file, `{"url": "${bare}", "api_key": "recall_unknown"}`, { mode: 0o600 })
    expect(await recall(['whoami'], { RECALL_KEY_FILE: file })).toMatchObject(refused)
    await rm(file)
  })

  it.skipIf(!curl)('ends with a code of its own where a tool is missing', async () => {
    const tools = await mkdtemp(join(tmpdir(), 'recall-tools-'))
    const env = { PATH: tools }
    const link = (name: string): Promise<void> => {
      const program = [`/bin/${name}`, `/usr/bin/${name}`].find(existsSync)
      return symlink(program as string, join(tools, name))
    }
    await link('sh')
    expect(await recall(['whoami'], env)).toMatchObject({
      code: 3,
      err: expect.stringContaining('mktemp is missing'),
    })
    await link('mktemp')
    await link('rm')
    const file = { RECALL_KEY_FILE: join(tools, 'hub.json') }
    expect((await recall(['register', hubAt('127.0.0.1'), 'ada'], { ...env, ...file })).code).toBe(3)
    expect((await readdir(tools)).sort()).toEqual(['mktemp', 'rm', 'sh'])
    await rm(tools, { recursive: true })
  })

  it.skipIf(!curl)('takes the answer of somebody else for no acknowledgement', async () => {
    const answers = ['<html>', '{}', '[]']
    const other = createHttpServer((_, answer) => {
      const text = answers.shift()
      if (text === undefined) answer.writeHead(304)
      if (text === '404') answer.writeHead(404)
      answer.end(text)
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const env = { RECALL_API_URL: `http://127.0.0.1:${port}`, RECALL_API_KEY: 'recall_unknown' }
    for (const args of [['save', content, 'pool,leak'], ['search', 'pool'], ['whoami']])
      expect(await recall(args, env)).toMatchObject({
        code: 3,
        out: '',
        err: expect.stringContaining('is it a Recall hub?'),
      })
    expect(await recall(['whoami'], env)).toEqual({
      code: 3,
      out: '',
      err: 'recall: the hub answered 304: \n',
    })
    answers.push('404')
    expect(await recall(['get', 'RCL-00000000'], env)).toMatchObject({ code: 3, out: '' })
    other.close()
  })

  it.skipIf(!curl)('sends again, under the same key, what got no whole answer', async () => {
    const saved = '{"short_id": "RCL-00000000"}'
    const keys = new Set<unknown>()
    let tries = 0
    const lossy = createHttpServer((request, answer) => {
      keys.add(request.headers['idempotency-key'])
      tries++
      if (tries === 1) return void request.socket.destroy()
      answer.writeHead(201, { 'content-length': saved.length })
      if (tries === 2) answer.write(saved.slice(0, 9), () => request.socket.destroy())
      else answer.end(saved)
    }).listen(0, '127.0.0.1')
    await once(lossy, 'listening')
    const { port } = lossy.address() as AddressInfo
    const env = { RECALL_API_URL: `http://127.0.0.1:${port}`, RECALL_API_KEY: 'recall_unknown' }
    expect(await recall(['save', content, 'pool,leak'], env)).toMatchObject({ code: 0, out: `${saved}\n` })
    expect(keys.size).toBe(1)
    lossy.close()
  })

  it.skipIf(!curl)(
    'refuses a key that others can read, also where find knows the modes of POSIX alone',
    async () => {
      const file = join(hub.folder, 'open.json')
      const tools = await mkdtemp(join(tmpdir(), 'recall-tools-'))
      const find = `#!/bin/sh\ncase "$*" in *-perm\\ /*) echo "find: -perm: illegal mode string" >&2; exit 1 ;; esac\nexec /usr/bin/find "$@"\n`
      await writeFile(join(tools, 'find'), find, { mode: 0o755 })
      const env = { RECALL_KEY_FILE: file, PATH: `${tools}${delimiter}${process.env.PATH}` }
      await recall(['register', hubAt('127.0.0.1'), 'open'], env)
      expect(await recall(['whoami'], env)).toMatchObject({ code: 0, err: '' })
      await chmod(file, 0o640)
      expect(await recall(['whoami'], env)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('others can read it'),
      })
      await rm(tools, { recursive: true })
    },
  )

  it.skipIf(!curl)('leaves nothing behind when it is interrupted', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'recall-interrupted-'))
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    const args = [join(root, 'clients/curl/recall.sh'), 'register', `http://127.0.0.1:${port}`, 'ada']
    const env = { ...process.env, TMPDIR: folder, RECALL_KEY_FILE: join(folder, 'hub.json') }
    const child = spawn('sh', args, { env, stdio: 'ignore', detached: true })
    const ended = once(child, 'close')
    const [connection] = (await once(silent, 'connection')) as [Socket]
    expect(await readdir(folder)).not.toEqual([])
    process.kill(-(child.pid as number), 'SIGINT')
    await ended
    expect(await readdir(folder)).toEqual([])
    connection.destroy()
    silent.close()
    await rm(folder, { recursive: true })
  })

  it.skipIf(!curl)('puts a new key where the old one came from', async () => {
    const url = hubAt('127.0.0.1')
    const file = join(hub.folder, 'rotated.json')
    const inFile = { RECALL_KEY_FILE: file }
    const keyIn = async () => (JSON.parse(await readFile(file, 'utf8')) as { api_key: string }).api_key
    await recall(['register', url, 'ada'], inFile)
    const first = await keyIn()

    // A key without its address is not this agent's, and the file's is not the one to rotate.
    const half = await recall(['rotate-key'], { ...inFile, RECALL_API_KEY: 'recall_other' })
    expect([half.code, half.err]).toEqual([2, expect.stringContaining('RECALL_API_URL as well')])
    const elsewhere = await recall(['rotate-key'], { ...inFile, RECALL_API_URL: 'http://elsewhere.example' })
    expect([elsewhere.code, elsewhere.err]).toEqual([2, expect.stringContaining('not on http://elsewhere')])
    expect(await keyIn()).toBe(first)

    expect(await recall(['rotate-key'], { ...inFile, RECALL_API_URL: `${url}/` })).toMatchObject({
      code: 0,
      out: '',
    })
    const second = await keyIn()
    expect(second).not.toBe(first)
    const old = { ...inFile, RECALL_API_URL: url, RECALL_API_KEY: first }
    expect((await recall(['whoami'], old)).code).toBe(3)
    expect((await recall(['whoami'], inFile)).code).toBe(0)

    const given = { ...inFile, RECALL_API_URL: url, RECALL_API_KEY: second }
    const { api_key: third } = JSON.parse((await recall(['rotate-key'], given)).out) as { api_key: string }
    expect(await keyIn()).toBe(second)
    expect((await recall(['whoami'], { ...given, RECALL_API_KEY: third })).code).toBe(0)
    expect((await recall(['rotate-key'], { ...given, RECALL_API_KEY: 'recall_unknown' })).code).toBe(3)
    expect((await readdir(hub.folder)).filter((name) => name.startsWith('rotated'))).toEqual(['rotated.json'])
  })
})

describe('the reference demo: two agents that know nothing of each other share a memory', () => {
  it.each(['learner', 'solver'])('%s needs ten lines at most', async (name) => {
    const program = await readFile(join(clients, `examples/${name}.py`), 'utf8')
    const lines = program.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('import sys'))
    expect(lines.length).toBeLessThanOrEqual(10)
  })

  const expectShared = ({ code, out, err }: Ran): void => {
    expect(err).toBe('')
    const [id, known, source] = out.trim().split('\n')
    expect(id).toMatch(/^RCL-/)
    expect(known).toMatch(/^learner knows: Redis rate limiting failed under load/)
    expect(source).toBe(`source: Recall #${id}`)
    expect(code).toBe(0)
  }

  it.skipIf(!twoHosts)('on two hosts, in network namespaces of their own', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'recall-two-hosts-'))
    const script = join(root, 'house/test/two-hosts.sh')
    const hub = [process.execPath, '--import', 'tsx', '-C', '@recall/source', 'apps/hub/src/main.ts']
    const ran = await runProgram('unshare', [...isolate, 'bash', script, folder, clients, ...hub], {
      cwd: root,
    })
    await rm(folder, { recursive: true })
    expectShared(ran)
  })

  it.skipIf(!python)('on two addresses of one machine', async () => {
    const agent = (name: string, address: string): Promise<Ran> =>
      runProgram(
        'python3',
        [join(clients, `examples/${name}.py`), hubAt(address), join(hub.folder, `${name}.json`)],
        { env: bare },
      )
    const learned = await agent('learner', '127.0.0.1')
    const solved = await agent('solver', '127.0.0.2')
    expectShared({
      code: learned.code || solved.code,
      out: learned.out + solved.out,
      err: learned.err + solved.err,
    })
  })
})
