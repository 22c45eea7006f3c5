// The build reads this file before any package is built, so it cannot import one.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The only files needed of the 139 MB of onnxruntime-web. */
export const wasmFiles = {
  scripts: ['ort.wasm.min.mjs', 'ort-wasm-simd-threaded.mjs'],
  binary: 'ort-wasm-simd-threaded.wasm',
} as const

/** The binary as packed by the build: unpacking takes 35 ms, and it saves 11 MB on disk. */
export const packedBinary = `${wasmFiles.binary}.br`

/** The build puts the files next to this one; in the repository they are where the package manager put them. */
export function wasmFolder(): URL {
  const placed = new URL('./onnxruntime/', import.meta.url)
  if (existsSync(placed)) return placed
  return pathToFileURL(`${dirname(createRequire(import.meta.url).resolve('onnxruntime-web/wasm'))}/`)
}
