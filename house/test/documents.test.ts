import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { commands } from '../../apps/cli/src/commands.ts'
import { run } from '../../apps/cli/src/run.ts'
import { variableNames } from '../../apps/hub/src/config/environment.ts'
import { apps, documents, filesIn, libraries, read, root } from './workspace.ts'

const readmes = ['README.md', ...[...libraries, ...apps].map(({ folder }) => `${folder}/README.md`)]
const codeIn = (path: string): string[] =>
  [...read(path).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code]) => code as string)

/** Runs a command line in a folder, with nobody at the terminal. */
async function recall(folder: string, argv: string[]): Promise<{ code: number; printed: string }> {
  let printed = ''
  const print = (text: string): void => {
    printed += text
  }
  const code = await run(argv, {
    out: print,
    err: print,
    env: {},
    cwd: folder,
    home: folder,
    now: Date.now,
    outputDelivered: async () => true,
    isTerminal: false,
    isErrorTerminal: false,
    columns: 100,
    ask: async () => null,
  })
  return { code, printed }
}

/** `packages/store-file/README.md` is tested by `examples/packages-store-file.ts`. */
const exampleOf = (readme: string): string =>
  `house/examples/${dirname(readme) === '.' ? 'readme' : dirname(readme).replaceAll('/', '-')}.ts`

describe.each(readmes)('%s', (readme) => {
  it('holds the code of its example, to the letter', () => {
    const [code, ...more] = codeIn(readme)
    expect(more).toEqual([])
    expect(code ?? '').toBe(existsSync(join(root, exampleOf(readme))) ? read(exampleOf(readme)) : '')
  })
})

describe.each(readmes.filter((readme) => codeIn(readme).length > 0))('%s', (readme) => {
  it('has everything installed that its example imports', () => {
    const installed = [...read(readme).matchAll(/npm install ([^`\n]+)/g)].flatMap(([, names = '']) =>
      names.split(' '),
    )
    const imported = codeIn(readme).flatMap((code) => [
      ...code.matchAll(/from '((?:@[\w-]+\/)?[\w-]+)[^:']*'/g),
    ])
    expect(installed).toEqual(expect.arrayContaining(imported.map(([, name]) => name)))
  })
})

describe('examples', () => {
  const folders: string[] = []
  const home = process.cwd()

  const runExample = async (name: string): Promise<unknown[]> => {
    const folder = await mkdtemp(join(tmpdir(), 'recall-example-'))
    folders.push(folder)
    process.chdir(folder)
    const printed: unknown[] = []
    vi.spyOn(console, 'log').mockImplementation((value) => void printed.push(value))
    await import(`../examples/${name}.ts`)
    return printed
  }

  afterEach(async () => {
    vi.restoreAllMocks()
    process.chdir(home)
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
  })

  it('README.md writes and finds a memory on files', async () => {
    expect(await runExample('readme')).toEqual(['Ana prefers tabs, short answers and Fridays off.'])
  })

  it('the README of core finds by words and filters, and validates', async () => {
    expect(await runExample('packages-core')).toEqual([
      'Run migrations before deploying the API',
      'MEMORY_INVALID_INPUT',
    ])
  })

  it('the README of embeddings finds by meaning', async () => {
    expect(await runExample('packages-embeddings')).toEqual(['incident, hybrid'])
  })

  it('the README of the file store finds what a person wrote', async () => {
    expect(await runExample('packages-store-file')).toEqual(['Deploys are frozen on Fridays.'])
  })

  it('the README of the Postgres store finds by words and filters', async () => {
    expect(await runExample('packages-store-postgres')).toEqual(['pool'])
  })

  it('the README of sessions archives a session', async () => {
    expect(await runExample('packages-sessions')).toEqual([])
  })

  it('the README of echoes consolidates a finding and surfaces it', async () => {
    expect(await runExample('packages-echoes')).toEqual(['Unused imports in new files'])
  })

  it('the README of mcp answers only POST', async () => {
    expect(await runExample('packages-mcp')).toEqual([405])
  })

  // The example of agents reads a folder that only its reader has: it is type-checked with the others.
})

it('README.md shows commands that exist, and its lines run', async () => {
  const lines = [...read('README.md').matchAll(/^```sh\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block]) => (block as string).split('\n'))
    .map((line) => line.replace(/\s+#.*$/, ''))
    // Those of `recall hub` need one that listens: the command's own tests run them.
    .filter((line) => line.startsWith('recall ') && !line.startsWith('recall hub '))
  expect(lines.length).toBeGreaterThanOrEqual(5)
  const folder = await mkdtemp(join(tmpdir(), 'recall-example-'))
  try {
    await writeFile(join(folder, 'session.jsonl'), read('apps/cli/demo/session.jsonl'))
    for (const line of lines) {
      const { code, printed } = await recall(folder, wordsOf(line).slice(1))
      expect(code, `${line}\n${printed}`).toBe(0)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => (quoted ?? bare) as string)

it('docs/cli.md describes every command, option and environment variable', () => {
  const text = read('docs/cli.md')
  const sections = new Map(
    [...text.matchAll(/^### recall (\w+)$([\s\S]*?)(?=^### |(?![\s\S]))/gm)].map(([, name, body]) => [
      name,
      body,
    ]),
  )
  expect([...sections.keys()].sort()).toEqual(commands.map(({ name }) => name).sort())
  for (const { name, options } of commands) {
    const own = Object.keys(options).filter((option) => !['root', 'layout', 'json'].includes(option))
    for (const option of own) expect(sections.get(name), `recall ${name}`).toContain(`--${option}`)
  }
  const variables = filesIn('apps/cli/src', '.ts').flatMap((path) => read(path).match(/\bRECALL_\w+/g) ?? [])
  for (const variable of new Set(variables)) {
    if (variable !== 'RECALL_VERSION') expect(text).toContain(variable)
  }
})

it('every decision is listed, by its title, in the index of decisions', () => {
  const files = filesIn('docs/decisions', '.md').filter((path) => !path.endsWith('README.md'))
  expect(files).not.toEqual([])
  const listed = read('docs/decisions/README.md')
    .split('\n')
    .filter((line) => line.startsWith('- '))
  expect(listed).toEqual(
    files.map((path) => {
      const title = /^# \d+\. (.+)$/m.exec(read(path))?.[1]
      const name = path.slice('docs/decisions/'.length)
      return `- [${name.slice(0, 4)}](${name}) ${title}`
    }),
  )
  for (const path of files) {
    expect(read(path), path).toMatch(/^## Context$[\s\S]+^## Decision$[\s\S]+^## Cost$/m)
  }
})

it('a variable of the hub has one name: the one it is read by, in its README and everywhere else', () => {
  const named = (path: string): string[] => read(path).match(/\bRECALL_HUB_[A-Z_]*[A-Z]\b/g) ?? []
  expect([...new Set(named('apps/hub/README.md'))].toSorted()).toEqual([...variableNames].toSorted())
  const unknown = [...documents(), 'apps/hub/deploy/compose.yaml'].flatMap((path) =>
    named(path).flatMap((name) => (variableNames.includes(name) ? [] : [`${name} in ${path}`])),
  )
  expect(unknown).toEqual([])
})

it('links between documents lead somewhere', () => {
  expect(documents()).toEqual(
    expect.arrayContaining([...readmes, 'bench/README.md', 'clients/curl/README.md']),
  )
  const broken = documents().flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .map(([, target]) => join(dirname(path), target as string))
      .filter((target) => !existsSync(join(root, target)))
      .map((target) => `${path}: ${target}`),
  )
  expect(broken).toEqual([])
})

it('links to a heading lead to one', () => {
  const headingsOf = (path: string): string[] =>
    [
      ...read(path)
        .replace(/^```.*?^```/gms, '')
        .matchAll(/^#+ (.+)$/gm),
    ].map(([, heading]) =>
      (heading as string)
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    )
  const links = documents().flatMap((path) =>
    [...read(path).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)].map(([, file, heading]) => ({
      path,
      target: file ? join(dirname(path), file) : path,
      heading: heading as string,
    })),
  )
  expect(links).not.toEqual([])
  expect(links.filter(({ target, heading }) => !headingsOf(target).includes(heading))).toEqual([])
})

it('files of the repository that documents name are there', () => {
  const named = documents().flatMap((path) =>
    [...read(path).matchAll(/`((?:packages|apps|bench|torture|plugins|clients|\.github)\/[\w./-]+)`/g)].map(
      ([, target]) => ({ path, target: target as string }),
    ),
  )
  expect(named).not.toEqual([])
  expect(named.filter(({ target }) => !existsSync(join(root, target)))).toEqual([])
})

it('AGENTS.md stays short', () => {
  expect(read('AGENTS.md').split('\n').length).toBeLessThanOrEqual(81)
  expect(read('CLAUDE.md')).toBe('@AGENTS.md\n')
})
