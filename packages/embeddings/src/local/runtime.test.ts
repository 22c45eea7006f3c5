import { expect, it } from 'vitest'
import { runProgram } from '../../test/run-program.ts'

/** Which runtime a program has by default, and which when it asks for the native one, whose import fails with a code. */
async function withoutNative(code: string): Promise<[usual: string, native: string]> {
  const hooks = `export async function resolve(name, context, next) {
    if (name === 'onnxruntime-node') throw Object.assign(new Error('no such symbol'), { code: '${code}' })
    return next(name, context)
  }`
  const program = `import { register } from 'node:module'
    import { localEmbedder } from './local-embedder.ts'
    register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})
    const runtimeOf = async (options) => {
      const embedder = localEmbedder(options)
      const problem = await embedder.warmUp().catch(({ code, message }) => code + ': ' + message)
      return embedder.runtime ?? problem
    }
    console.log(JSON.stringify([await runtimeOf({}), await runtimeOf({ runtime: 'native' })]))`
  return JSON.parse(await runProgram(program))
}

it('is WebAssembly where the native one is not installed, unless that is asked for', async () => {
  expect(await withoutNative('ERR_MODULE_NOT_FOUND')).toEqual([
    'wasm',
    expect.stringMatching(/^MEMORY_UNAVAILABLE: onnxruntime-node is not installed: run `npm install/),
  ])
})

it('is none where the native one is installed and broken, which a person has to know', async () => {
  const broken = expect.stringMatching(/^MEMORY_UNAVAILABLE: .* does not load: no such symbol\. Reinstall or/)
  expect(await withoutNative('ERR_DLOPEN_FAILED')).toEqual([broken, broken])
})
