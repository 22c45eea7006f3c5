import { builtinModules } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { conditionsOf, leftOutTests, nodesIn, parse, processReads, recursiveFolders } from './syntax.ts'
import { apps, filesIn, isTest, libraries, read, sourcesOf, type Workspace } from './workspace.ts'

const importsOf = (path: string): string[] =>
  ts.preProcessFile(read(path), true, true).importedFiles.map(({ fileName }) => fileName)

/** `@recall/core/conformance` belongs to `@recall/core`. */
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

const isRelative = (specifier: string): boolean => specifier.startsWith('.')
const isNode = (specifier: string): boolean =>
  specifier.startsWith('node:') || builtinModules.includes(specifier)
const isOurs = (specifier: string): boolean => specifier.startsWith('@recall/')

const imports = (files: string[]): { path: string; specifier: string }[] =>
  files.flatMap((path) => importsOf(path).map((specifier) => ({ path, specifier })))

const shown = (found: { path: string; specifier: string }[]): string[] =>
  found.map(({ path, specifier }) => `${path} imports ${specifier}`)

/** Core stands alone, and so does data; embeddings also name the model that they run by default. */
function allowedOf(name: string): string[] {
  if (name === '@recall/core' || name.startsWith('@recall/model-')) return []
  return ['@recall/core', ...(name === '@recall/embeddings' ? ['@recall/model-bge-small-en'] : [])]
}

describe.each(libraries)('$folder', (library: Workspace) => {
  const { manifest, folder } = library
  const own = imports(sourcesOf(library))

  it('imports no package of ours but core', () => {
    const allowed = allowedOf(manifest.name)
    const named = own.filter(({ specifier }) => isOurs(specifier) && !allowed.includes(packageOf(specifier)))
    expect(shown(named)).toEqual([])
    const declared = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter(isOurs)
    expect(declared).toEqual(allowed)
  })

  it('imports only what its users get installed', () => {
    const installed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    const missing = own.filter(
      ({ specifier }) =>
        !isRelative(specifier) && !isNode(specifier) && !installed.includes(packageOf(specifier)),
    )
    expect(shown(missing)).toEqual([])
  })

  it('reaches into no other folder', () => {
    const leaving = imports(filesIn(folder, '.ts').filter((path) => !path.endsWith('.config.ts'))).filter(
      ({ path, specifier }) =>
        isRelative(specifier) && !join(dirname(path), specifier).startsWith(`${folder}/`),
    )
    expect(shown(leaving)).toEqual([])
  })
})

describe.each([...libraries, ...apps])('$folder', (workspace: Workspace) => {
  it('has folders that stand one above the other: none needs what needs it', () => {
    const sources = `${workspace.folder}/src`
    const roomOf = (path: string): string => relative(sources, path).split(sep)[0] as string
    const needs = new Map<string, Set<string>>()
    for (const { path, specifier } of imports(sourcesOf(workspace))) {
      const [from, to] = [roomOf(path), roomOf(join(dirname(path), specifier))]
      if (isRelative(specifier) && from !== to) needs.set(from, (needs.get(from) ?? new Set()).add(to))
    }
    const allNeedsOf = (room: string, known = new Set<string>()): Set<string> => {
      for (const need of needs.get(room) ?? []) if (!known.has(need)) allNeedsOf(need, known.add(need))
      return known
    }
    expect([...needs.keys()].filter((room) => allNeedsOf(room).has(room))).toEqual([])
  })
})

it('how a package is built needs none of ours to be built already', () => {
  const withNeeds = (path: string): string[] => [
    path,
    ...importsOf(path)
      .filter((specifier) => isRelative(specifier) && specifier.endsWith('.ts'))
      .flatMap((specifier) => withNeeds(join(dirname(path), specifier))),
  ]
  const configs = [...libraries, ...apps].map(({ folder }) => `${folder}/tsup.config.ts`)
  const needed = imports(configs.flatMap(withNeeds)).filter(({ specifier }) => isOurs(specifier))
  expect(shown(needed)).toEqual([])
})

it.each([
  { name: '@recall/core', but: '/src/process/' },
  { name: '@recall/mcp', but: 'stdio.ts' },
  { name: '@recall/client', but: 'nowhere' },
])('$name runs anywhere: it imports nothing of Node, but in $but', ({ name, but }) => {
  const files = libraries
    .filter(({ manifest }) => manifest.name === name)
    .flatMap(sourcesOf)
    .filter((path) => !path.includes(but))
  expect(files).not.toEqual([])
  expect(shown(imports(files).filter(({ specifier }) => isNode(specifier)))).toEqual([])
})

it('only the main file of an app reads the environment and the arguments', () => {
  const files = [...libraries, ...apps]
    .flatMap(sourcesOf)
    .filter((path) => !/^apps\/[^/]+\/src\/main\.ts$/.test(path))
  expect(files.flatMap((path) => processReads(path, read(path)))).toEqual([])
})

it.each([
  "import { env, argv } from 'node:process'",
  "import { env as settings } from 'process'",
  "import host from 'node:process'",
  'const { env } = process',
  'const { argv: given, ...rest } = process',
  "process['env'].HOME",
  'globalThis.process.argv[2]',
  'process.env.HOME',
])('sees that the environment or the arguments are read: %s', (text) => {
  expect(processReads('sample.ts', text)).toHaveLength(1)
})

it('sees no reading of what is no setting', () => {
  const text =
    "import process, { pid } from 'node:process'\nconst { platform } = process\nprocess.env.RECALL_VERSION"
  expect(processReads('sample.ts', text)).toEqual([])
})

/** Hosts and platforms are known to adapters, commands that install for them, and documents. */
const platforms = /\b(?:claude|cursor|codex|moltbook|openclaw|windsurf|aider|gemini|copilot|opencode)\b/gi
/** Where one of these is an ordinary word. */
const ordinary = [/no scroll cursor for/g, /paged with a cursor/g, /cursor or offset/g, /etag\|cursor\|sha/g]
const neutral = [
  '@recall/core',
  '@recall/store-file',
  '@recall/store-postgres',
  '@recall/sessions',
  '@recall/echoes',
  '@recall/client',
  '@recall/hub',
]

it('what is not made for one host names none', () => {
  const files = [...libraries, ...apps]
    .filter(({ manifest }) => neutral.includes(manifest.name))
    .flatMap(sourcesOf)
  expect(files).not.toEqual([])
  const named = files.flatMap((path) => {
    const text = ordinary.reduce((rest, phrase) => rest.replace(phrase, ''), read(path))
    return [...text.matchAll(platforms)].map(([name]) => `${path}: ${name}`)
  })
  expect(named).toEqual([])
})

it('no folder is made by the recursive call of Node, which never returns below /proc', () => {
  const files = [...libraries, ...apps].flatMap(sourcesOf)
  expect(files.flatMap((path) => recursiveFolders(path, read(path)))).toEqual([])
})

it.each([
  'mkdirSync(path, { recursive: true })',
  'await fs.promises.mkdir(\n  path,\n  {\n    mode: 0o700,\n    recursive: true,\n  },\n)',
  "fs['mkdirSync'](path, { 'recursive': deep })",
])('sees a recursive call: %s', (text) => {
  expect(recursiveFolders('sample.ts', text)).toHaveLength(1)
  expect(recursiveFolders('sample.ts', text.replace('recursive', 'mode'))).toEqual([])
})

it('no test is left out without a word about it', () => {
  const folders = ['packages', 'apps', 'bench', 'clients', 'docs', 'examples', 'house', 'plugins', 'torture']
  const files = folders.flatMap((folder) => filesIn(folder, '.ts')).filter(isTest)
  const left = files.flatMap((path) => [...leftOutTests(path, read(path)), ...untold(path, read(path))])
  expect(left).toEqual([])
})

/** What the system is, everybody sees who runs the tests. */
const ofTheSystem =
  /^(?:process\.platform [!=]== '\w+'|existsSync\('\/proc\/self'\)|process\.getuid !== undefined)$/

/** Conditions under which tests are left out, of which nothing says on the error channel that they hold. */
function untold(path: string, text: string): string[] {
  if (!/\b(?:skipIf|runIf|skip|only|todo|fails)\b/.test(text)) return []
  const source = parse(path, text)
  const untoldParts = conditionsOf(source).flatMap((condition) =>
    condition
      .getText()
      .split(' && ')
      .filter((part) => !ofTheSystem.test(part))
      .filter((part) => !isTold(path, source, /^!?(\w+)/.exec(part)?.[1] ?? '')),
  )
  return untoldParts.map((part) => `${path}: left out by ${part}, and nothing says so`)
}

const tells = (text: string): boolean => /process\.stderr\.write\([\s\S]{0,80}skipped/.test(text)

/** The file that a name is imported from says so, or this one where it is declared here, or what that is made of. */
function isTold(path: string, source: ts.SourceFile, name: string, seen: readonly string[] = []): boolean {
  if (seen.includes(name)) return false
  const nodes = nodesIn(source)
  const imported = nodes.filter(ts.isImportDeclaration).find(({ importClause }) => {
    const { namedBindings } = importClause ?? {}
    return namedBindings && ts.isNamedImports(namedBindings)
      ? namedBindings.elements.some((element) => element.name.text === name)
      : false
  })
  if (imported) {
    const from = (imported.moduleSpecifier as ts.StringLiteral).text
    return isRelative(from) && tells(read(join(dirname(path), from)))
  }
  const declared = nodes
    .filter((node) => ts.isVariableDeclaration(node) || ts.isFunctionDeclaration(node))
    .find((node) => node.name?.getText() === name)
  if (!declared) return false
  if (saysOf(name, source)) return true
  const parts = nodesIn(declared)
    .filter(ts.isIdentifier)
    .map(({ text }) => text)
  return parts.some((part) => isTold(path, source, part, [...seen, name]))
}

/** Whether a statement at the top of a file names something and says what is skipped. */
const saysOf = (name: string, source: ts.SourceFile): boolean =>
  source.statements.some(
    (statement) => tells(statement.getText()) && new RegExp(`\\b${name}\\b`).test(statement.getText()),
  )

it.each([
  "it.skip('…', () => {})",
  "it.concurrent.skip('…', () => {})",
  "describe.sequential.only('…', () => {})",
  "it.skip.each([1])('…', () => {})",
  'const maybe = it.only',
  "it('…', { skip: true }, () => {})",
  "test('…', { retry: 1, todo: true })",
  "it('…', (ctx) => ctx.skip())",
  "it('…', ({ skip }) => skip(isHere))",
])('sees a test that is left out: %s', (text) => {
  expect(leftOutTests('sample.ts', text)).toHaveLength(1)
})

it('takes no test to be left out that runs, or says why it does not', () => {
  const text = "it('skip', { skip: false }, ({ skip }) => skip(`no disk`))\nlist.only.skip\n"
  expect(leftOutTests('sample.ts', text)).toEqual([])
})

it('asks of every condition that something tells of it', () => {
  const told = "if (!isHere) process.stderr.write('skipped: it is not here')\nconst isHere = find()\n"
  const conditional = "it.skipIf(!isHere)('…')\nit.runIf(isThere && isHere)('…')\n"
  const option =
    "const isThere = find()\nit('…', { skip: !isThere })\nit.runIf(process.platform !== 'win32')('…')"
  const sample = 'house/test/sample.ts'
  expect(untold(sample, told + conditional + option)).toEqual([
    `${sample}: left out by isThere, and nothing says so`,
    `${sample}: left out by !isThere, and nothing says so`,
  ])
})

it('nothing is left to be done in a comment', () => {
  const files = [...libraries, ...apps].flatMap(sourcesOf).concat(filesIn('scripts', '.ts'))
  const marks = files.flatMap((path) =>
    read(path)
      .split('\n')
      .filter((line) => /(?:\/\/|^\s*\/?\*).*\b(?:TODO|FIXME|XXX|HACK)\b/.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )
  expect(marks).toEqual([])
})

/** Functions that are named like an answer of yes or no, and give an error. */
const askedForErrors = (text: string): string[] =>
  [...text.matchAll(/\b(?:const|function) ((?:is|has|can)[A-Z]\w*)(?: = )?\([^()]*\): \w*Error\b/g)].map(
    ([, name]) => name as string,
  )

it('no function that makes an error is named like one that answers yes or no', () => {
  const files = [...libraries, ...apps].flatMap(sourcesOf)
  expect(files.flatMap((path) => askedForErrors(read(path)).map((name) => `${path}: ${name}`))).toEqual([])
  const samples = [
    'const isGone = (path: string): MemoryError =>',
    'function hasNone(\n  path: string,\n): Error {',
    'const isGone = (path: string): boolean =>',
  ]
  expect(samples.flatMap(askedForErrors)).toEqual(['isGone', 'hasNone'])
})
