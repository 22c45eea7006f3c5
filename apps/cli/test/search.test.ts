import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createShell,
  poolSession,
  serveTinyModel,
  shellWithSession,
  temporaryFolder,
  writeSession,
} from './support.ts'

type Result = { key: string; line: number }

describe('search', () => {
  it('names the line of the file, also of a value whose text does not stand there as it is', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    const filler = Array.from({ length: 200 }, (_, i) => `filler word${i} is here`)
    await memory.write('long-term', 'json', { filler, deep: { text: 'first\nthe "zebra" crossing' } })
    await memory.write('long-term', 'found', 'a body', { text: 'the okapi of the front matter' })
    await memory.write('long-term', 'plain', `${filler.join('\n')}\nthe quagga`)
    await memory.close()
    for (const [key, word] of [
      ['json', 'zebra'],
      ['found', 'okapi'],
      ['plain', 'quagga'],
    ])
      for (const options of [[], ['--ranked', '--lexical']]) {
        const { results } = await shell.json<{ results: Result[] }>('search', `${word}`, ...options)
        const lines = readFileSync(join(shell.root, `memory/long-term/${key}.md`), 'utf8').split('\n')
        expect(results[0]).toMatchObject({
          key,
          line: lines.findIndex((line) => line.includes(`${word}`)) + 1,
        })
      }
  })

  it('shows lines whose surroundings meet together, and each line once', async () => {
    const shell = createShell()
    await shell.run('init')
    const lines = ['zebra 1', 'b', 'zebra 3', 'd', 'e', 'zebra 6', 'g', 'h', 'i', 'zebra 10']
    mkdirSync(join(shell.root, 'memory/long-term'))
    writeFileSync(join(shell.root, 'memory/long-term/a.md'), lines.join('\n'))
    const blocks = async (context: string) => {
      const { out } = await shell.run('search', 'zebra', '-C', context)
      return out.split(/^memory.long-term.a\.md:/m).slice(1)
    }
    const shown = (line: number, from: number, to: number) =>
      `${line}\n${lines
        .slice(from, to)
        .map((each) => `  ${each}\n`)
        .join('')}`
    expect(await blocks('1')).toEqual([shown(1, 0, 7), shown(10, 8, 10)])
    expect(await blocks('2')).toEqual([shown(1, 0, 10)])
    expect(await blocks('0')).toHaveLength(4)
    const { results } = await shell.json<{ results: Result[] }>('search', 'zebra', '-C', '2')
    expect(results.map(({ line }) => line)).toEqual([1, 3, 6, 10])
  })

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

  it('shows no line with half of the words where others have all', async () => {
    const shell = await shellWithSession()
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), '## Water\n\nThe zebra swims in a lagoon.\n')
    writeFileSync(join(shell.root, 'memory/places.md'), '## Places\n\nA lagoon, and a crater.\n')
    const found = async (query: string) => {
      const { results } = await shell.json<{ results: { snippet: string }[] }>('search', query)
      return results.map(({ snippet }) => snippet)
    }
    expect(await found('zebra lagoon')).toEqual(['The zebra swims in a lagoon.'])
    const both = ['The zebra swims in a lagoon.', 'A lagoon, and a crater.']
    expect(await found('lagoon flamingo')).toEqual(both)
    // Nor does a place go that holds the words in two lines, or one that is found by its date.
    writeFileSync(
      join(shell.root, 'memory/wrapped.md'),
      '## Herds\n\nNow and then a zebra\nis in the lagoon.\n',
    )
    expect(await found('zebra lagoon')).toEqual([
      'The zebra swims in a lagoon.',
      'Now and then a zebra',
      'is in the lagoon.',
    ])
    expect(await found('march lagoon zebra')).toContain(poolSession[0]?.text)
  })

  it('gives a line to the last section that begins before it', async () => {
    const shell = await shellWithSession()
    const sections = '## One\nA zebra.\n## Two\nA zebra with stripes.\nAnother zebra.\n'
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), sections)
    const { results } = await shell.json<{ results: { key: string; line: number }[] }>('search', 'zebra')
    expect(results.map(({ key, line }) => `${line} ${key}`)).toEqual([
      '2 MEMORY.md#one',
      '4 MEMORY.md#two',
      '5 MEMORY.md#two',
    ])
  })

  it('shows a file for its best section, where another one has few of the words', async () => {
    const shell = await shellWithSession()
    const words = 'zebra okapi gnu'
    const sections = `## One\n\nThe ${words}.\n\n## Two\n\nThe zebra again.\n`
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), sections)
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('long-term', 'herd', `A ${words}.`)
    await memory.close()
    const { out } = await shell.run('search', words)
    expect(out).toContain(`The ${words}.`)
    expect(out).toContain(`A ${words}.`)
  })

  it('shows of a long line the place that was looked for', async () => {
    const shell = await shellWithSession()
    const text = `## Pool\n\n${'It was drained. '.repeat(60)}The zebra fell in. ${'It was filled. '.repeat(60)}\n`
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), text)
    for (const options of [[], ['--ranked', '--lexical']]) {
      const { out } = await shell.run('search', 'zebras', ...options)
      expect(out).toMatch(/\n {2}….*The zebra fell in\. .*…\n$/)
      expect(out.length).toBeLessThan(400)
    }
  })

  it('cuts a huge line for programs as well, and where lines around it are shown', async () => {
    const shell = createShell()
    await shell.run('init')
    const long = 'It was drained. '.repeat(60_000)
    const lines = `Before. ${long}\n${long}The zebra fell in. ${long}`
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), `## Pool\n\n${lines}\n`)
    const { results } = await shell.json<{ results: { snippet: string }[] }>('search', 'zebras')
    expect(results.map(({ snippet }) => snippet)).toEqual([
      expect.stringMatching(/^….{900,}The zebra fell in\..{900,}…$/),
    ])
    const { out } = await shell.run('search', 'zebras', '-C', '1')
    expect(out).toMatch(/\n {2}Before\..*…\n {2}….*The zebra fell in\..*…\n/)
    expect(out.length).toBeLessThan(5000)
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

  it('shows every line that has all the words, and with --ranked the best places of each memory', async () => {
    const shell = createShell()
    await shell.run('init')
    const folder = temporaryFolder()
    const turns = ['The pool leaks.', 'It rains.', 'Is it the pool that leaks?', 'Only the pool.']
    const session = turns.map((text, i) => ({
      role: i % 2 ? ('assistant' as const) : ('user' as const),
      text,
    }))
    await shell.run('archive', writeSession(folder, 'one', session))
    const lines = async (...options: string[]): Promise<string[]> => {
      const { results } = await shell.json<{ results: { snippet: string }[] }>(
        'search',
        'pool leak',
        '--scope',
        'episodic',
        ...options,
      )
      return results.map(({ snippet }) => snippet)
    }
    expect(await lines()).toEqual(['The pool leaks.', 'The pool leaks.', 'Is it the pool that leaks?'])
    // The summary repeats the first turn.
    expect(await lines('--ranked')).toEqual([
      'The pool leaks.',
      'Is it the pool that leaks?',
      'Only the pool.',
    ])
    expect(await lines('--limit', '1')).toEqual(['The pool leaks.'])
  })

  it('shows with --ranked what was said, not that a user said it', async () => {
    const shell = createShell()
    await shell.run('init')
    const session = [
      { role: 'user' as const, text: 'Release on Monday.' },
      { role: 'assistant' as const, text: 'Fine.' },
    ]
    await shell.run('archive', writeSession(temporaryFolder(), 'one', session))
    const { results } = await shell.json<{ results: { line: number; snippet: string }[] }>(
      'search',
      'what did the user want of the release',
      '--ranked',
      '--scope',
      'episodic',
    )
    expect(results[0]?.snippet).toBe('Release on Monday.')
  })

  it('shows file by file, those of a numbered series in their order', async () => {
    const shell = await shellWithSession()
    const names = ['step-9', 'step-10', 'step-1000', 'step-010']
    mkdirSync(join(shell.root, 'memory/long-term'))
    for (const name of names)
      writeFileSync(join(shell.root, `memory/long-term/${name}.md`), 'a zebra\n\nanother zebra\n')
    const { results } = await shell.json<{ results: { key: string; line: number }[] }>('search', 'zebra')
    expect(results.map(({ key, line }) => `${key} ${line}`)).toEqual(
      ['step-9', 'step-010', 'step-10', 'step-1000'].flatMap((name) => [`${name} 1`, `${name} 3`]),
    )
  })

  it('cuts off lines with some of the words before one that has them all', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    await shell.run('init')
    const animals = 'walrus\nzebra\nocelot'
    const scattered = [
      { role: 'user' as const, text: 'Which ones live here?' },
      ...Array.from({ length: 6 }, () => ({ role: 'assistant' as const, text: animals })),
    ]
    const together = [
      {
        role: 'user' as const,
        text: `${'Nothing else was said of animals. '.repeat(60)}\nwalrus, zebra, ocelot`,
      },
      { role: 'assistant' as const, text: 'Nothing else was said of animals. '.repeat(60) },
    ]
    await shell.run('archive', writeSession(folder, 'scattered', scattered))
    await shell.run('archive', writeSession(folder, 'together', together))
    await shell.run('consume', '--clear')
    const { results } = await shell.json<{ results: { snippet: string }[] }>(
      'search',
      'walrus zebra ocelot',
      '--limit',
      '2',
    )
    expect(results.map(({ snippet }) => snippet)).toContain('walrus, zebra, ocelot')
  })

  it('shows what stands before the second rule of a file without front matter', async () => {
    const shell = createShell()
    await shell.run('init')
    const properties = (animal: string) => `---\nanimal: ${animal}\n---\n\nNothing of the kind.\n`
    writeFileSync(join(shell.root, 'memory/MEMORY.md'), properties('walrus'))
    writeFileSync(join(shell.root, 'memory/topic.md'), properties('narwhal'))
    writeFileSync(join(shell.root, 'memory/EPHEMERAL.md'), properties('ocelot'))
    for (const animal of ['walrus', 'narwhal', 'ocelot']) {
      const { results } = await shell.json<{ results: object[] }>('search', animal)
      expect(results, animal).toMatchObject([{ line: 2, snippet: `animal: ${animal}` }])
    }
  })

  it('cuts a long line between two characters', async () => {
    const shell = createShell()
    await shell.run('init')
    appendFileSync(join(shell.root, 'memory/MEMORY.md'), `\nzeppelin ${'🙂'.repeat(200)}\n`)
    const { out } = await shell.run('search', 'zeppelin')
    expect(out).toContain('🙂…')
    expect(out.isWellFormed()).toBe(true)
  })

  it('shows lines without their line ends, whichever these are', async () => {
    const shell = createShell()
    await shell.run('init')
    writeFileSync(
      join(shell.root, 'memory/MEMORY.md'),
      '## Animals\r\n\r\nThe walrus waits.\r\nIt is patient.\r\n',
    )
    const { results } = await shell.json<{ results: object[] }>('search', 'walrus', '-C', '1')
    expect(results).toMatchObject([{ line: 3, snippet: '\nThe walrus waits.\nIt is patient.' }])
  })

  it('shows a memory that is found by another text than its lines', async () => {
    const shell = createShell()
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('long-term', 'pets', 'It likes fish.', { text: 'the walrus' })
    await memory.close()
    const { results } = await shell.json<{ results: object[] }>('search', 'walrus')
    expect(results).toMatchObject([{ key: 'pets' }])
  })

  it('finds lines in scripts without spaces, and identifiers by the words inside them', async () => {
    const shell = createShell()
    await shell.run('init')
    const turns = ['我们决定用数据库保存所有的订单。', 'Then searchMemories was slow.', 'Nothing else.']
    const session = turns.map((text) => ({ role: 'user' as const, text }))
    await shell.run('archive', writeSession(temporaryFolder(), 'one', session))
    const lines = async (query: string): Promise<string[]> => {
      const { results } = await shell.json<{ results: { snippet: string }[] }>('search', query)
      return [...new Set(results.map(({ snippet }) => snippet))]
    }
    expect(await lines('数据库')).toContain(turns[0])
    expect(await lines('memories')).toContain(turns[1])
    expect(await lines('飛行機')).toEqual([])
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

  it('names the line of the file on which the match stands', async () => {
    const shell = await shellWithSession()
    const { results } = await shell.json<{ results: { path: string; line: number; snippet: string }[] }>(
      'search',
      'leak test passes',
    )
    const [hit] = results
    const lines = readFileSync(join(shell.root, hit?.path ?? ''), 'utf8').split('\n')
    expect(lines[(hit?.line ?? 0) - 1]).toBe(hit?.snippet)
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

  it('shows lines around a match and searches one scope when asked', async () => {
    const shell = await shellWithSession()
    const { out } = await shell.run('search', 'retry path', '-C', '2', '--scope', 'episodic')
    expect(out).toContain('### Assistant')
    expect((await shell.run('search', 'retry path', '--scope', 'long-term')).code).toBe(1)
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
