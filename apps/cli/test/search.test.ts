import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createShell, poolSession, serveTinyModel, shellWithSession, temporaryFolder } from './support.ts'

describe('search', () => {
  it('prints the documented JSON', async () => {
    const shell = await shellWithSession()
    const answer = await shell.json<{ results: Record<string, unknown>[] }>('search', 'retry path client')
    expect(Object.keys(answer)).toEqual(['query', 'mode', 'tookMs', 'results'])
    expect(answer).toMatchObject({ query: 'retry path client', mode: 'lexical' })
    expect(Object.keys(answer.results[0] ?? {})).toEqual([
      'scope',
      'key',
      'path',
      'line',
      'score',
      'confidence',
      'title',
      'date',
      'snippet',
      'neighbours',
    ])
    expect(answer.results[0]).toMatchObject({
      scope: 'episodic',
      key: 'conversation:pool-leak',
      path: 'memory/conversations/conversation-001.md',
      snippet: 'The retry path in src/pool.ts takes a client and never releases it.',
    })
  })

  it('calls a session without a name by how its summary begins, cut short and without secrets', async () => {
    const shell = await shellWithSession()
    const titles = async (...query: string[]) => {
      const { results } = await shell.json<{ results: { key: string; title: string }[] }>('search', ...query)
      return new Map(results.map(({ key, title }) => [key.split(':')[0], title]))
    }
    const asked = poolSession[0]?.text
    const found = await titles('pool', '--ranked', '--limit', '50')
    expect(found.get('conversation')).toBe(asked)
    const path = join(shell.root, 'memory/conversations/conversation-001.md')
    const secret = 'hunter2hunter2'
    const archive = readFileSync(path, 'utf8')
    writeFileSync(
      path,
      archive.replace('## Summary\n\n', `$&${'pool '.repeat(16)}password: ${secret} is it\n\n`),
    )
    const [title = ''] = (await titles('retry path client')).values()
    expect(title).toMatch(/^(?:pool ){16}password: \[redact[^ ]*…$/)
    expect(title.length).toBeLessThanOrEqual(100)
    writeFileSync(path, `${archive.split('## Summary')[0]}### User\n\n> retry path client\n`)
    expect((await titles('retry path client')).get('conversation')).toMatch(/^\w+(?:, \w+)+$/)
  })

  it('calls what is found in the window by how the summary begins', async () => {
    const shell = await shellWithSession()
    const { results } = await shell.json<{ results: { title: string }[] }>(
      'search',
      'database connections',
      '--scope',
      'short-term',
    )
    expect(results[0]?.title).toBe(poolSession[0]?.text)
  })

  it('says that meaning was searched as well, also when nothing was found', async () => {
    const root = temporaryFolder()
    const shell = createShell(root, null, { RECALL_ROOT: root, ...(await serveTinyModel()) })
    await shell.run('init', '--layout', 'entity')
    const nothing = ['search', 'harbour', '--ranked', '--scope', 'episodic']
    expect(await shell.json(...nothing)).toMatchObject({ mode: 'lexical', results: [] })
    await shell.run('reindex', '--model')
    expect(await shell.json(...nothing)).toMatchObject({ mode: 'hybrid', results: [] })
    expect(await shell.json(...nothing, '--lexical')).toMatchObject({ mode: 'lexical', results: [] })
  })

  it('says how many passages meaning does not find yet', async () => {
    const root = temporaryFolder()
    const shell = createShell(root, null, { RECALL_ROOT: root, ...(await serveTinyModel()) })
    await shell.run('init', '--layout', 'entity')
    await shell.run('reindex', '--model')
    const sections = Array.from({ length: 9 }, (_, i) => `## Harbour ${i}\n\n${`boat ${i} `.repeat(150)}\n`)
    writeFileSync(join(root, 'memory/boats.md'), sections.join('\n'))
    const search = ['search', 'harbour', '--ranked']
    expect((await shell.run(...search)).err).toContain('passages found by words alone so far')
    expect(await shell.json(...search)).not.toHaveProperty('withoutVectors')
    expect((await shell.run(...search)).err).not.toContain('by words alone')
  })

  it('says with --ranked how likely the memory knows, and can be asked to say nothing below that', async () => {
    const shell = await shellWithSession()
    const ask = async (...options: string[]) =>
      shell.json<{ confidence: number; results: unknown[] }>('search', 'retry path client', ...options)
    const { confidence, results } = await ask('--ranked')
    expect(confidence).toBeGreaterThan(0)
    expect(confidence).toBeLessThan(1)
    expect(results).not.toEqual([])
    expect(await ask('--ranked', '--min-confidence', String(confidence - 0.001))).toMatchObject({ results })
    const unsure = await shell.run('search', 'retry path client', '--ranked', '--min-confidence', '0.999')
    expect([unsure.code, unsure.out]).toEqual([1, 'Nothing found.\n'])
    const wrong = await shell.run('search', 'pool', '--min-confidence', 'high')
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('a number from 0 to 1')])
  })

  it('finds what was typed into MEMORY.md by hand a moment ago', async () => {
    const shell = await shellWithSession()
    appendFileSync(
      join(shell.root, 'memory/MEMORY.md'),
      '\n## Deploys\n\nWe deploy from the release branch, never on Fridays.\n',
    )
    const { out } = await shell.run('search', 'release branch')
    expect(out).toContain('memory/MEMORY.md:7')
    expect(out).toContain('We deploy from the release branch')
  })

  it('ranks an entry with all words above one with some, and explains the score', async () => {
    const shell = await shellWithSession()
    const { results } = await shell.json<{ results: { score: number; signals: Record<string, number> }[] }>(
      'search',
      '--ranked',
      '--explain',
      'database connections hour',
    )
    const [first] = results
    const total = Object.values(first?.signals ?? {}).reduce((sum, share) => sum + share, 0)
    expect(total).toBeCloseTo(first?.score ?? 0, 2)
    expect(Object.keys(first?.signals ?? {})).toEqual(
      expect.arrayContaining(['words', 'document', 'recency']),
    )
    const { out } = await shell.run('search', '--ranked', '--explain', 'database connections hour')
    expect(out.split('\n')[1]).toMatch(new RegExp(`^  score ${first?.score.toFixed(3)}: words 0\\.\\d{3} · `))
  })

  it('says where it finds nothing that a file may have been edited meanwhile, if it looked at some alone', async () => {
    const shell = await shellWithSession()
    expect((await shell.run('search', 'zeppelin')).err).toBe('')
    mkdirSync(join(shell.root, 'memory/long-term'), { recursive: true })
    for (let i = 0; i < 2001; i++) writeFileSync(join(shell.root, `memory/long-term/note-${i}.md`), 'a rope')
    expect((await shell.run('search', 'zeppelin')).err).toBe('')
    writeFileSync(join(shell.root, 'memory/long-term/note-7.md'), 'a zeppelin')
    const passedOver = await shell.run('search', 'zeppelin')
    expect(passedOver.out).toBe('Nothing found.\n')
    expect(passedOver.err).toContain("may not be in the index yet: 'recall reindex' looks at every file")
    expect((await shell.run('search', 'rope')).err).not.toContain('reindex')
    await shell.run('reindex')
    expect(await shell.run('search', 'zeppelin')).toMatchObject({ code: 0, err: '' })
  })

  it('exits with 1 when nothing is found and with 2 when it is used wrongly', async () => {
    const shell = await shellWithSession()
    expect(await shell.run('search', 'zeppelin')).toMatchObject({ code: 1, out: 'Nothing found.\n' })
    for (const limit of ['many', '0', '1001'])
      expect(await shell.run('search', 'pool', '--limit', limit)).toMatchObject({
        code: 2,
        err: `recall: --limit takes a whole number from 1 to 1000, not '${limit}'\n`,
      })
    expect(await shell.run('search')).toMatchObject({ code: 2 })
    expect(await shell.run('seach', 'pool')).toMatchObject({ code: 2 })
  })

  it('marks on a screen what was looked for, also inside a sentence without spaces', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), '# Retrying paths\n\n再試行で接続が解放されない。\n')
    vi.stubEnv('FORCE_COLOR', '1')
    onTestFinished(() => void vi.unstubAllEnvs())
    const marked = async (query: string) => {
      const { out } = await shell.onTerminal().run('search', query)
      return out.replaceAll('\u001b[1m\u001b[31m', '<').replaceAll('\u001b[39m\u001b[22m', '>').split('\n')[1]
    }
    expect(await marked('paths')).toBe('  # Retrying <paths>')
    expect(await marked('接続 解放')).toBe('  再試行で<接続>が<解放>されない。')
    expect(await marked('再試行 試行')).toBe('  <再試行>で接続が解放されない。')
    const plain = createShell(shell.root, null, { RECALL_ROOT: shell.root, NO_COLOR: '1' }).onTerminal()
    expect((await plain.run('search', 'paths')).out).toMatch(
      /\n {2}# Retrying paths\n1 found in [\d.]+ ms\n$/,
    )
  })

  it('prints no control characters that a memory holds', async () => {
    const shell = createShell()
    await shell.run('init')
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), '\n## Trap\n\nbeware \u001b[2Jof the zeppelin\n')
    const { out } = await shell.run('search', 'zeppelin')
    expect(out).toContain('of the zeppelin')
    expect(out).not.toContain('\u001b')
  })

  it('says when it goes by words because the vectors cannot be read', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/topic.md'), 'The harbour.\n')
    expect((await shell.run('search', 'harbour', '--ranked')).err).toBe('')
    writeFileSync(join(shell.root, 'memory/.recall/vectors.f32'), '')
    const { code, err } = await shell.run('search', 'harbour', '--ranked')
    expect(code).toBe(0)
    expect(err).toContain('recall reindex --model')
    expect((await shell.run('search', 'harbour', '--ranked', '--lexical')).err).toBe('')
  })

  it('says when there is more than it shows, and which options need --ranked', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n${'A walrus.\n'.repeat(30)}`)
    expect((await shell.run('search', 'walrus')).err).toBe(
      'recall: there is more: a higher --limit shows it\n',
    )
    expect(await shell.json('search', 'walrus')).toMatchObject({ more: true })
    const all = await shell.run('search', 'walrus', '--limit', '40')
    expect(all.err).toBe('')
    expect(all.out.match(/walrus/g)).toHaveLength(30)
    for (const option of ['--lexical', '--min-confidence=0.9'])
      expect((await shell.run('search', 'walrus', option)).code).toBe(2)
  })

  it('says of more than it may show how to narrow it down', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `# Memory\n\n${'A walrus.\n'.repeat(1100)}`)
    expect((await shell.run('search', 'walrus', '--limit', '1000')).err).toBe(
      'recall: there is more: more words narrow it down\n',
    )
    expect((await shell.run('search', 'walrus', '--limit', '999')).err).toContain('a higher --limit')
  })

  it('says that there is more only where a higher limit shows it', async () => {
    const shell = createShell()
    await shell.run('init')
    for (let i = 0; i < 12; i++) writeFileSync(join(shell.root, `memory/note-${i}.md`), 'A walrus.\n')
    writeFileSync(join(shell.root, 'memory/both.md'), 'A walrus on the harbour wall.\n\nThe walrus slept.\n')
    expect((await shell.run('search', 'walrus', '--limit', '11')).err).toContain('there is more')
    for (const limit of ['1', '5', '40'])
      expect(await shell.run('search', 'harbour', 'walrus', '--limit', limit)).toMatchObject({
        err: '',
        out: expect.stringMatching(/^memory\/both\.md:1\n.*\n$/),
      })
  })
})
