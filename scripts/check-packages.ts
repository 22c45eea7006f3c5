/**
 * Looks at the packages as the people who install them will: packs each, examines the tarball, installs all of
 * them into an empty folder and uses them from JavaScript, from TypeScript and from the command line.
 *
 * Needs a build. Prints one line a check, and `N passed, N failed` at the end.
 */
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

interface Package {
  name: string
  /** Run, not imported. */
  isCommand: boolean
  tarball: string
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const work = mkdtempSync(join(tmpdir(), 'recall-packages-'))
const longestInstallSeconds = 15
/** Entries for those who have installed the optional peer that these need. */
const ofPeers = new Set(['@recall/core/conformance', '@recall/core/opentelemetry'])
/** The embedding model and its runtime are 38 MB of it. */
const largestInstallBytes = 80_000_000
let passed = 0
let failed = 0

async function check(
  what: string,
  body: () => string | undefined | Promise<string | undefined>,
): Promise<void> {
  try {
    const note = await body()
    passed++
    console.log(`  ok      ${what}${note ? ` (${note})` : ''}`)
  } catch (error) {
    failed++
    console.log(`  failed  ${what}\n${indent((error as Error).message)}`)
  }
}

/** @returns what the command printed to its standard output */
function command(program: string, args: string[], cwd: string): string {
  return commandOutputs(program, args, cwd).stdout
}

function commandOutputs(program: string, args: string[], cwd: string): { stdout: string; stderr: string } {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`)
  return { stdout, stderr }
}

/** The pnpm that runs this script, else the one that the workspace names. */
function pnpm(args: string[], cwd: string): string {
  const running = process.env.npm_execpath
  return running?.includes('pnpm')
    ? command(process.execPath, [running, ...args], cwd)
    : command('npx', ['--yes', 'pnpm@10.34.9', ...args], cwd)
}

const indent = (text: string): string => text.trim().replace(/^/gm, '          ')

function publishable(): Package[] {
  const folders = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  )
  return folders.flatMap((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    if (manifest.private) return []
    const { filename } = JSON.parse(pnpm(['pack', '--json', '--pack-destination', work], folder))
    return [{ name: manifest.name, isCommand: manifest.bin !== undefined, tarball: filename }]
  })
}

/** Bytes on disk of everything below a folder, links not followed. */
function sizeOf(path: string): number {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return stats.size
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
}

function emptyProject(name: string): string {
  const folder = join(work, name)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, private: true, type: 'module' }))
  return folder
}

function install(folder: string, packages: string[]): string {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=dev']
  const { stdout, stderr } = commandOutputs('npm', ['install', ...options, ...packages], folder)
  return stdout + stderr
}

/** Tarballs of a package and of every package of ours that it needs: no registry has them yet. */
function withOwnDependencies(name: string, packages: readonly Package[], seen = new Set<string>()): string[] {
  const own = packages.find((each) => each.name === name)
  if (!own || seen.has(name)) return []
  seen.add(name)
  const manifest = JSON.parse(command('tar', ['-xzOf', own.tarball, 'package/package.json'], work))
  const needed = Object.keys(manifest.dependencies ?? {})
  return [own.tarball, ...needed.flatMap((each) => withOwnDependencies(each, packages, seen))]
}

const script = `import { openFileMemory } from '@recall/store-file'
import { MemoryErrorCode, isMemoryError } from '@recall/core'

const memory = await openFileMemory({ root: 'notes', create: true })
await memory.write('long-term', 'greeting', 'The person likes to be called Ana')
const [found] = await memory.search('long-term', { text: 'how is she called' })
console.log(found?.value)
await memory.write('working', '', 'no key').catch((error) => {
  console.log(isMemoryError(error, MemoryErrorCode.INVALID_INPUT))
})
await memory.close()
`

function typeCheck(folder: string, module: string, moduleResolution: string, more: object = {}): void {
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2023',
        lib: ['es2023', 'esnext.disposable'],
        module,
        moduleResolution,
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        types: ['node'],
        ...more,
      },
      files: ['use.ts'],
    }),
  )
  command(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], folder)
}

try {
  console.log('packages')
  const packages = publishable()
  for (const { name, isCommand, tarball } of packages) {
    await check(`${name}: publint`, async () => {
      const bytes = readFileSync(tarball)
      const { messages, pkg } = await publint({
        strict: true,
        pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
      })
      if (messages.length > 0) throw new Error(messages.map((each) => formatMessage(each, pkg)).join('\n'))
      return `${Math.round(bytes.length / 1000)} kB packed`
    })
    await check(`${name}: nothing in it points at sources or workspaces`, () => {
      const listing = command('tar', ['-tzf', tarball], work)
      const manifest = command('tar', ['-xzOf', tarball, 'package/package.json'], work)
      if (/\.test\.|\/src\//.test(listing)) throw new Error(`sources or tests are packed\n${listing}`)
      if (/\/src\/|workspace:|catalog:/.test(manifest)) throw new Error(manifest)
      for (const file of ['README.md', 'LICENSE']) if (!listing.includes(file)) throw new Error(`no ${file}`)
      if (!isCommand && !/dist\/index\.d\.ts/.test(listing)) throw new Error('no declarations')
      return undefined
    })
    if (isCommand) continue
    await check(`${name}: are the types wrong`, () => {
      const attw = join(root, 'node_modules/.bin/attw')
      command(attw, [tarball, '--profile', 'esm-only', '--no-emoji'], work)
      return undefined
    })
  }

  console.log('libraries in an empty folder')
  const library = emptyProject('library')
  const libraries = packages.filter(({ isCommand }) => !isCommand)
  await check('npm install', () => {
    install(library, ['@types/node@20', ...libraries.map(({ tarball }) => tarball)])
    return undefined
  })
  await check('JavaScript writes and finds a memory', () => {
    writeFileSync(join(library, 'use.js'), script)
    const printed = command(process.execPath, ['use.js'], library)
    if (printed !== 'The person likes to be called Ana\ntrue\n') throw new Error(printed)
    return undefined
  })
  for (const [module, resolution] of [
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ] as const) {
    await check(`TypeScript checks the same, with ${resolution} resolution`, () => {
      writeFileSync(join(library, 'use.ts'), script)
      typeCheck(library, module, resolution)
      return undefined
    })
  }
  await check('TypeScript checks what runs in a browser, without the types of Node', () => {
    const ofCore = ['', '/json', '/protocol', '/ranking', '/stores', '/text']
    const entries = [...ofCore.map((entry) => `@recall/core${entry}`), '@recall/client']
    writeFileSync(join(library, 'use.ts'), entries.map((entry) => `import '${entry}'\n`).join(''))
    typeCheck(library, 'esnext', 'bundler', { lib: ['es2022', 'dom'], types: [] })
    return undefined
  })
  for (const { name } of libraries) {
    const manifest = readFileSync(join(library, 'node_modules', name, 'package.json'), 'utf8')
    const entries = Object.keys(JSON.parse(manifest).exports).filter((entry) => !entry.endsWith('.json'))
    for (const entry of entries) {
      const specifier = name + entry.slice(1)
      if (ofPeers.has(specifier)) continue
      await check(`${specifier} loads`, () => {
        command(process.execPath, ['--input-type=module', '-e', `await import('${specifier}')`], library)
        return undefined
      })
    }
  }

  console.log('the command in an empty folder')
  const tool = emptyProject('tool')
  const recall = (...args: string[]): string =>
    command(process.execPath, [join(tool, 'node_modules/@recall/cli/dist/recall.cjs'), ...args], tool)
  await check('npm install with production dependencies, no scripts, no native build', () => {
    const tarballs = withOwnDependencies('@recall/cli', packages)
    const started = performance.now()
    const printed = install(tool, tarballs)
    const seconds = (performance.now() - started) / 1000
    if (/gyp|prebuild-install|node-pre-gyp/.test(printed)) throw new Error(printed)
    const bytes = sizeOf(join(tool, 'node_modules'))
    const note = `${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s`
    if (bytes > largestInstallBytes || seconds > longestInstallSeconds) throw new Error(note)
    return note
  })
  await check('recall --version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'apps/cli/package.json'), 'utf8'))
    const printed = recall('--version').trim()
    if (printed !== version) throw new Error(`${printed} instead of ${version}`)
    return printed
  })
  await check('the licenses of what the command holds come with it', () => {
    const texts = readFileSync(join(tool, 'node_modules/@recall/cli/dist/third-party-notices.txt'), 'utf8')
    if (!/^zod .* \(MIT\)$/m.test(texts) || !texts.includes('Permission is')) throw new Error(texts)
    return undefined
  })
  const session = join(tool, 'node_modules/@recall/cli/demo/session.jsonl')
  await check('recall init, archive, search', () => {
    recall('init', '.')
    recall('archive', session)
    const { results } = JSON.parse(recall('search', 'connection pool leak', '--json', '--ranked'))
    if (results.length === 0) throw new Error('nothing found')
    return undefined
  })
  await check('recall init takes a module for a target', () => {
    const target = `{ name: 'mine', edits: () => [] }`
    writeFileSync(join(tool, 'mine.mjs'), `export const target = ${target}`)
    recall('init', '--target', './mine.mjs', '--dry-run')
    return undefined
  })
  await check('recall finds by meaning, with the model that came along', () => {
    recall('reindex', '--model')
    const { mode, results } = JSON.parse(
      recall('search', 'sockets that nobody gave back', '--json', '--ranked'),
    )
    if (mode !== 'hybrid' || results.length === 0) throw new Error(`${mode}, ${results.length} results`)
    return undefined
  })
  await check('recall demo', () => {
    const printed = recall('demo')
    if (!printed.includes('[redacted') && !printed.includes('secrets replaced')) throw new Error(printed)
    const [folder] = /^ {2}(\S*recall-demo-\S+)$/m.exec(printed)?.slice(1) ?? []
    if (folder) rmSync(folder, { recursive: true })
    return undefined
  })
} finally {
  rmSync(work, { recursive: true, force: true })
}

console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1
