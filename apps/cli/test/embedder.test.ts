import { fakeEmbedder } from '@recall/embeddings'
import { expect, it } from 'vitest'
import { adviceOn } from '../src/memory/embedder.ts'

it('names the native runtime to whom the other one took long', () => {
  const running = (runtime: 'native' | 'wasm') => ({ ...fakeEmbedder(), runtime })
  expect(adviceOn(running('wasm'), 60_000)).toContain('onnxruntime-node')
  expect(adviceOn(running('wasm'), 500)).toBeUndefined()
  expect(adviceOn(running('native'), 60_000)).toBeUndefined()
  expect(adviceOn(fakeEmbedder(), 60_000)).toBeUndefined()
})
