import { builtinModules } from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
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
  expect(files.flatMap((path) => processReads(path))).toEqual([])
})

/** The first is a constant, set when the command is bundled; the second is the only switch of a native library. */
const noSettings = ['process.env.RECALL_VERSION', 'process.env.ORT_DISABLE_TELEMETRY']

function processReads(path: string): string[] {
  const source = ts.createSourceFile(path, read(path), ts.ScriptTarget.Latest)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node)) {
      const text = node.getText(source)
      if (noSettings.includes(text)) return
      if (text === 'process.env' || text === 'process.argv') found.push(`${path}: ${text}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

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
  expect(files.filter((path) => /\bmkdir(?:Sync)?\([^\n]*\{\s*[^\n]*\brecursive:/.test(read(path)))).toEqual(
    [],
  )
})

it('no test is left out without a word about it', () => {
  const files = [...libraries, ...apps].flatMap(({ folder }) => filesIn(folder, '.ts')).filter(isTest)
  const left = files.flatMap((path) => {
    const text = read(path)
    const silent = /\b(?:it|test|describe)\.(?:only|skip|todo|fails)\b/.exec(text)?.[0]
    const conditional = /\b(?:it|test|describe)\.(?:skipIf|runIf)\((?:!?)(\w+)/.exec(text)?.[1]
    // The file, one that it imports, or the support file beside it says on the error channel what is missing.
    const support = `${path.split('/').slice(0, 2).join('/')}/test/support.ts`
    const imported = importsOf(path).filter(isRelative)
    const tells = [
      path,
      ...imported.map((each) => join(dirname(path), each)),
      ...filesIn(dirname(support), 'support.ts'),
    ].some((each) => /process\.stderr\.write\([\s\S]{0,80}skipped/.test(read(each)))
    if (silent) return [`${path}: ${silent}`]
    return conditional && !tells ? [`${path}: left out unless ${conditional}, and nothing says so`] : []
  })
  expect(left).toEqual([])
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
