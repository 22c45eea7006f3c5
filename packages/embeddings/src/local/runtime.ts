import { existsSync, readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import type { Runtime, RuntimeOptions } from './runtime-options.ts'
import { turnOffTelemetry } from './telemetry.ts'
import { packedBinary, wasmFiles, wasmFolder } from './wasm-files.ts'

/** Runs a BERT-like model over a padded batch. */
export interface Session {
  readonly runtime: Runtime
  /**
   * @param ids `rows × length` token ids, padded with 0
   * @param mask 1 for a token, 0 for padding
   * @returns the last hidden state, `rows × length × dimensions`
   */
  run(ids: BigInt64Array, mask: BigInt64Array, rows: number, length: number): Promise<Float32Array>
  close(): Promise<void>
}

/** The part of ONNX Runtime that is used, common to both builds. */
interface Onnx {
  env: { wasm: { numThreads?: number; wasmBinary?: Uint8Array; wasmPaths?: { mjs: string } } }
  Tensor: new (type: 'int64', data: BigInt64Array, dims: number[]) => object
  InferenceSession: {
    create(
      model: Uint8Array,
      options: { intraOpNumThreads?: number; graphOptimizationLevel: 'all' | 'extended' },
    ): Promise<OnnxSession>
  }
}

interface OnnxSession {
  run(inputs: Record<string, object>): Promise<Record<string, { data: Float32Array } | undefined>>
  release(): Promise<void>
}

/**
 * @param runtime default: `native` when onnxruntime-node is installed and can be kept from reporting, otherwise `wasm`
 * @param threads for the native runtime
 * @throws MemoryError UNAVAILABLE when the requested runtime is missing, would report, or refuses the model
 */
export async function openSession(model: Uint8Array, { runtime, threads }: RuntimeOptions): Promise<Session> {
  const native = runtime !== 'wasm' && turnOffTelemetry() ? await loadNative() : null
  if (runtime === 'native' && !native) throw nativeMissing()
  const onnx = native ?? (await loadWasm())
  let session: OnnxSession
  try {
    session = await onnx.InferenceSession.create(model, {
      graphOptimizationLevel: native ? 'all' : 'extended',
      ...(native && threads ? { intraOpNumThreads: threads } : {}),
    })
  } catch (cause) {
    throw new MemoryError(
      `the embedding model cannot be loaded: ${messageOf(cause)}`,
      MemoryErrorCode.UNAVAILABLE,
      { cause },
    )
  }
  return {
    runtime: native ? 'native' : 'wasm',
    async run(ids, mask, rows, length) {
      const tensor = (data: BigInt64Array): object => new onnx.Tensor('int64', data, [rows, length])
      const output = await session.run({
        input_ids: tensor(ids),
        attention_mask: tensor(mask),
        token_type_ids: tensor(new BigInt64Array(ids.length)),
      })
      const hidden = output.last_hidden_state
      if (!hidden) {
        throw new MemoryError('the embedding model gives no last_hidden_state', MemoryErrorCode.UNAVAILABLE)
      }
      return hidden.data
    },
    close: () => session.release(),
  }
}

const nativeMissing = (): MemoryError =>
  new MemoryError(
    turnOffTelemetry()
      ? 'onnxruntime-node is not installed: run `npm install onnxruntime-node`, or leave out `runtime`'
      : `${process.versions.bun ? 'on Bun' : 'in this worker thread'} onnxruntime-node would report to its maker: ` +
          'start the process with ORT_DISABLE_TELEMETRY=1, ' +
          (process.versions.bun ? '' : 'use `workerEmbedder` from the main thread, ') +
          'or leave out `runtime`',
    MemoryErrorCode.UNAVAILABLE,
  )

async function loadNative(): Promise<Onnx | null> {
  try {
    const loaded = (await import('onnxruntime-node')) as unknown as Onnx & { default?: Onnx }
    return loaded.default ?? loaded
  } catch (error) {
    // Only a missing package selects the other runtime; a broken installation must be reported.
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return null
    throw new MemoryError(
      `onnxruntime-node is installed but does not load: ${messageOf(error)}. Reinstall or remove it`,
      MemoryErrorCode.UNAVAILABLE,
      { cause: error },
    )
  }
}

async function loadWasm(): Promise<Onnx> {
  const folder = wasmFolder()
  const onnx = (await import(new URL('ort.wasm.min.mjs', folder).href)) as Onnx
  // More threads would need workers; a short process can afford only one thread.
  onnx.env.wasm.numThreads = 1
  onnx.env.wasm.wasmPaths = { mjs: new URL('ort-wasm-simd-threaded.mjs', folder).href }
  onnx.env.wasm.wasmBinary = readBinary(folder)
  return onnx
}

function readBinary(folder: URL): Uint8Array {
  const packed = new URL(packedBinary, folder)
  return existsSync(packed)
    ? brotliDecompressSync(readFileSync(packed))
    : readFileSync(new URL(wasmFiles.binary, folder))
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
