import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { runProgram } from '../../test/run-program.ts'
import { turnOffTelemetry } from './telemetry.ts'

const folder = import.meta.dirname

let home: string
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'recall-home-'))
})
afterAll(() => rm(home, { recursive: true }))

it.each([
  ['local-embedder.ts', 'localEmbedder'],
  ['worker-embedder.ts', 'workerEmbedder'],
])('%s keeps nothing of its use in the home of a user', async (file, name) => {
  const program = `import { ${name} } from './${file}'
    const embedder = ${name}({ runtime: 'native' })
    await embedder.embed(['a'], 'query')
    await embedder.close()`
  // The runtime reports nothing where it knows a build server by its variables: only what a program needs is handed on.
  const env = { PATH: process.env.PATH, HOME: home, XDG_CACHE_HOME: join(home, 'cache') }
  await runProgram(program, env)
  expect(await readdir(home, { recursive: true })).toEqual([])
})

it('takes WebAssembly in a thread in which the native runtime would report', async () => {
  const script = `import('${import.meta.resolve('tsx/esm/api')}').then(async ({ register }) => {
    register()
    const { localEmbedder } = await import('${join(folder, 'local-embedder.ts')}')
    const usual = localEmbedder()
    await usual.warmUp()
    const native = await localEmbedder({ runtime: 'native' }).warmUp().catch((error) => error.message)
    require('node:worker_threads').parentPort.postMessage({ usual: usual.runtime, native })
  })`
  const { ORT_DISABLE_TELEMETRY: _, ...env } = process.env
  const worker = new Worker(script, { eval: true, env, execArgv: ['--conditions', '@recall/source'] })
  const told = await new Promise((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  expect(told).toEqual({ usual: 'wasm', native: expect.stringContaining('ORT_DISABLE_TELEMETRY=1') })
})

it('takes WebAssembly on Bun, where native code does not see what a program sets', () => {
  vi.stubEnv('ORT_DISABLE_TELEMETRY', undefined)
  vi.stubGlobal('process', Object.create(process, { versions: { value: { ...process.versions, bun: '1' } } }))
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
  })
  expect(turnOffTelemetry()).toBe(false)
  process.env.ORT_DISABLE_TELEMETRY = '1'
  expect(turnOffTelemetry()).toBe(true)
})
