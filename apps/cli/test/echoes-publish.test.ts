import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Engine, engines, openHub } from '../../hub/test/support/open-hub.ts'
import { evidence, learning, project } from './echo-project.ts'
import { createShell } from './support.ts'

describe('publish', () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await (engines[0] as (typeof engines)[0])[1]()
  })
  afterAll(() => engine.close())

  const reference = ['echoes', 'publish', 'reviewer/inscribed-001', '--tags', 'sql,lists']

  it('shows what is sent, asks, and shares it on the hub', async () => {
    const hub = await openHub(engine.database)
    const agent = await hub.agent('ada', 1)
    vi.stubGlobal('fetch', (request: Request) => hub.fetch(request))
    onTestFinished(() => void vi.unstubAllGlobals())
    const shell = await project()
    const keyFile = join(shell.root, '.config/recall/hub.json')
    mkdirSync(dirname(keyFile), { recursive: true })
    expect((await shell.run(...reference)).err).toContain('no key for a hub')
    writeFileSync(keyFile, JSON.stringify({ url: 'http://localhost', api_key: agent.key }))
    chmodSync(keyFile, 0o644)
    expect((await shell.run(...reference)).err).toContain('chmod 600')
    chmodSync(keyFile, 0o600)
    const unasked = await shell.run(...reference)
    expect(unasked).toMatchObject({ code: 1, out: expect.stringContaining('Nothing was sent') })
    expect(unasked.err).toContain(learning)
    expect(await agent.search(learning)).toEqual([])
    const asked = createShell(shell.root, 'y')
    expect((await asked.run(...reference)).out).toMatch(
      /^Published as RCL-\w+\.\nnote: content is shorter than 200 .*\nnote: there is no source_url/,
    )
    const [found] = await agent.search(learning)
    expect(found).toMatchObject({ tags: ['sql', 'lists'], content: expect.stringContaining(evidence) })
    const again = await asked.run('echoes', 'publish', 'reviewer/inscribed-001', '--tags', 'sql,loops')
    expect(again.out).toMatch(/\nnear to it: RCL-\w+ \(/)
    expect(`${unasked.out}${unasked.err}`).not.toContain(agent.key)
  })

  it('takes secrets out that a person wrote into the file, and says so', async () => {
    const shell = await project()
    const path = join(shell.root, '.recall/echoes/reviewer/MEMORY.md')
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
    writeFileSync(path, readFileSync(path, 'utf8').replace('one query', `one query, ${secret}`))
    writeFileSync(join(shell.root, 'key.json'), '{"url":"http://localhost","api_key":"k"}', { mode: 0o600 })
    const options = ['--key-file', 'key.json', '--dry-run', '--json']
    const { code, out, err } = await shell.run(...reference, ...options)
    expect([code, JSON.parse(out)]).toMatchObject([0, { published: false, redacted: { github: 1 } }])
    expect(err).toContain('Taken out: 1 github.')
    expect(out + err).not.toContain(secret)
  })

  it('takes out what evidence may not hold, however it came into the file', async () => {
    const shell = await project()
    const path = join(shell.root, '.recall/echoes/reviewer/MEMORY.md')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replaceAll(evidence, `${evidence} — reported by bob.jones@example.org`))
    writeFileSync(join(shell.root, 'key.json'), '{"url":"http://localhost","api_key":"k"}', { mode: 0o600 })
    // With other evidence it is another entry.
    const published = ['echoes', 'publish', 'reviewer/inscribed-002', '--tags', 'sql,lists']
    const { out, err } = await shell.run(...published, '--key-file', 'key.json', '--dry-run', '--json')
    expect(JSON.parse(out)).toMatchObject({ redacted: { 'e-mail-address': 1 } })
    expect(err).toContain('Taken out: 1 e-mail-address.')
    expect(out + err).not.toContain('bob.jones')
    for (const options of [[], ['--json']]) {
      const surfaced = await shell.run('echoes', 'surface', 'reviewer', '--for', learning, ...options)
      expect(surfaced.out).toContain('[removed: e-mail-address]')
      expect(surfaced.out).not.toContain('bob.jones')
    }
  })

  it('sends nothing that the hub would not take', async () => {
    const shell = await project()
    writeFileSync(join(shell.root, 'key.json'), '{"url":"http://127.0.0.1:1","api_key":"k"}', { mode: 0o600 })
    const publish = (...argv: string[]) =>
      shell.run(
        'echoes',
        'publish',
        'reviewer/inscribed-001',
        '--yes',
        '--json',
        '--key-file',
        'key.json',
        ...argv,
      )
    expect(await publish('--tags', 'sql')).toMatchObject({
      code: 2,
      err: expect.stringContaining('the hub wants 2 to 6 tags'),
    })
    expect((await publish('--tags', 'a,b,c,d,e,f,g')).err).toContain('the hub wants 2 to 6 tags')
    expect(await publish()).toEqual({
      code: 3,
      out: expect.stringMatching(/^\{"error":\{"code":"MEMORY_UNAVAILABLE"/),
      err: expect.stringMatching(/^recall: 127\.0\.0\.1:1 cannot be reached: /),
    })
  })

  it('makes no tag of a secret in a title', async () => {
    const shell = await project()
    const path = join(shell.root, '.recall/echoes/reviewer/MEMORY.md')
    const secret = ['AKIA', 'QYLPMN5HFIQR7XYZ'].join('')
    writeFileSync(path, readFileSync(path, 'utf8').replace('Queries in loops', `Queries in loops ${secret}`))
    writeFileSync(join(shell.root, 'key.json'), '{"url":"http://localhost","api_key":"k"}', { mode: 0o600 })
    const published = ['echoes', 'publish', 'reviewer/inscribed-002', '--key-file', 'key.json', '--dry-run']
    const { memory } = await shell.json<{ memory: { tags: string[] } }>(...published)
    expect(memory.tags).toEqual(['queries', 'loops', 'pattern'])
    const given = await shell.json<{ memory: { tags: string[] } }>(
      ...published,
      '--tags',
      `sql,${secret},lists`,
    )
    expect(given.memory.tags).toEqual(['sql', 'lists'])
  })
})
