import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const app = fileURLToPath(new URL('..', import.meta.url))

let folder = ''
let home = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'recall-compile-'))
  await build({
    entry: [join(app, 'src/compile-cache.ts')],
    config: false,
    format: 'cjs',
    outDir: folder,
    silent: true,
    // Nothing of ours need be built to be tested.
    esbuildOptions: (options) => {
      options.conditions = ['@recall/source']
    },
  })
  const program = "require('./compile-cache.cjs').keepCompiledCode(process.env)\nrequire('./large.cjs')\n"
  writeFileSync(join(folder, 'main.cjs'), program)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeEach(() => {
  home = join(folder, `home-${Math.random()}`)
  mkdirSync(home)
  writeProgram('one')
})

const padding = `/* ${'x'.repeat(5000)} */\n`
const program = (): string => join(folder, 'large.cjs')
const writeProgram = (word: string, prelude = ''): void =>
  writeFileSync(program(), `${prelude}${padding}console.log('${word}')\n`)

const run = (env: NodeJS.ProcessEnv = {}): string =>
  execFileSync(process.execPath, [join(folder, 'main.cjs')], {
    encoding: 'utf8',
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: home, LOCALAPPDATA: home, ...env },
  }).trim()

const cache = (): string => join(home, 'recall', 'code')
const keptFiles = (): string[] =>
  (existsSync(cache()) ? readdirSync(cache(), { recursive: true }) : []).map(String)
const onlyFile = (): string => join(cache(), keptFiles()[0] as string)

/** Node keeps compiled code itself from 22.1 on: what is kept how is then its affair. */
const isOurs = !('enableCompileCache' in (await import('node:module')))
if (!isOurs)
  process.stderr.write(
    'skipped: what is kept, and where it is left alone: this Node keeps compiled code itself\n',
  )

describe('compiled code', () => {
  it("is kept between calls, in a folder that is the user's own", () => {
    expect(run()).toBe('one')
    expect(keptFiles().length).toBeGreaterThan(0)
    expect(statSync(cache()).mode & 0o077).toBe(0)
    const before = statSync(onlyFile()).ino
    expect(run()).toBe('one')
    expect(statSync(onlyFile()).ino).toBe(before)
  })

  it('is not looked for below the working folder', () => {
    expect(run({ XDG_CACHE_HOME: 'cache' })).toBe('one')
    expect(readdirSync(home)).toEqual([])
  })

  it('is not taken for that of another source of the same length and time', () => {
    expect(run()).toBe('one')
    const { atime, mtime } = statSync(program())
    writeProgram('two')
    utimesSync(program(), atime, mtime)
    expect(run()).toBe('two')
    expect(run()).toBe('two')
  })

  it.runIf(isOurs)('is kept for each processor and version of Node that shares the home', () => {
    const pretend = join(folder, 'pretend.cjs')
    const asOther = (property: string, value: string): string => {
      writeFileSync(pretend, `Object.defineProperty(process, '${property}', { value: '${value}' })\n`)
      return run({ NODE_OPTIONS: `--require ${JSON.stringify(pretend)}` })
    }
    run()
    const before = readFileSync(onlyFile())
    const name = onlyFile()
    expect(asOther('arch', 'pdp11')).toBe('one')
    expect(asOther('version', 'v20.0.0')).toBe('one')
    expect(keptFiles()).toHaveLength(3)
    expect(readFileSync(name).equals(before)).toBe(true)
  })

  it.runIf(isOurs)('is made anew when what was kept is damaged', () => {
    run()
    const whole = readFileSync(onlyFile())
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 40)) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] as number) ^ 4
      writeFileSync(onlyFile(), damaged)
      expect(run()).toBe('one')
      expect(readFileSync(onlyFile()).equals(damaged)).toBe(false)
    }
    writeFileSync(onlyFile(), '')
    expect(run()).toBe('one')
  })

  it.runIf(isOurs && process.getuid !== undefined)('is left alone where others may write', () => {
    mkdirSync(cache(), { recursive: true })
    chmodSync(cache(), 0o777)
    expect(run()).toBe('one')
    expect(keptFiles()).toEqual([])
  })

  it('is not kept when the user or the disk does not let it', () => {
    expect(run({ NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('one')
    expect(keptFiles()).toEqual([])
    const file = join(home, 'no-folder')
    writeFileSync(file, '')
    expect(run({ HOME: file, XDG_CACHE_HOME: file, LOCALAPPDATA: file })).toBe('one')
  })

  it('leaves to Node what is no CommonJS, and errors as they are', () => {
    writeProgram('module', 'export {}\n')
    rmSync(join(folder, 'large.mjs'), { force: true })
    writeFileSync(join(folder, 'large.mjs'), readFileSync(program()))
    writeFileSync(program(), `${padding}import('./large.mjs')\n`)
    expect(run()).toBe('module')
    writeFileSync(program(), `${padding}this is no program\n`)
    expect(() => run()).toThrow('SyntaxError')
    writeFileSync(
      program(),
      `${padding}console.log(require.main === module, require.resolve('./main.cjs'))\n`,
    )
    expect(run()).toBe(`false ${join(folder, 'main.cjs')}`)
  })
})
