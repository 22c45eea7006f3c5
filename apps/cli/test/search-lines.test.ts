import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openFileMemory } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { createShell, poolSession, shellWithSession, temporaryFolder, writeSession } from './support.ts'

type Result = { key: string; line: number }

describe('the lines that a search shows', () => {
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

  it('shows of what is found by its date alone only what is of the day or month that is named', async () => {
    const shell = createShell()
    for (const day of ['2026-01-10', '2026-02-10', '2026-03-05'])
      await shell.run('archive', writeSession(temporaryFolder(), `on-${day}`, poolSession, day))
    const found = async (query: string) => {
      const { results } = await shell.json<{ results: Result[] }>('search', query)
      return [...new Set(results.map(({ key }) => key))]
    }
    for (const query of ['zebra 2 days ago', 'zebra 2026-01-11', 'what does this year say of zebras'])
      expect(await found(query), query).toEqual([])
    expect((await shell.run('search', '2 days ago')).code).toBe(1)
    expect(await found('yesterday')).toEqual(['conversation:on-2026-03-05'])
    for (const query of ['zebra 2026-02-10', 'zebra of 2026-02', 'February'])
      expect(await found(query), query).toEqual(['conversation:on-2026-02-10'])
    expect(await found('2026')).toHaveLength(3)
    // What holds the words comes before what is of the date.
    const { out } = await shell.run('search', 'leak test 2026-02-10', '--limit', '1')
    expect(out).toContain('leak test')
  })

  it('shows what has several parts and is found by words that stand in none of its lines', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    const body = Array.from({ length: 400 }, (_, i) => `filler word${i} is here`).join('\n')
    await memory.write('long-term', 'long', body, { text: `the okapi of the front matter\n\n${body}` })
    await memory.close()
    const { results } = await shell.json<{ results: Result[] }>('search', 'okapi')
    expect(results.map(({ key }) => key)).toEqual(['long'])
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

  it('shows lines around a match and searches one scope when asked', async () => {
    const shell = await shellWithSession()
    const { out } = await shell.run('search', 'retry path', '-C', '2', '--scope', 'episodic')
    expect(out).toContain('### Assistant')
    expect((await shell.run('search', 'retry path', '--scope', 'long-term')).code).toBe(1)
  })
})
