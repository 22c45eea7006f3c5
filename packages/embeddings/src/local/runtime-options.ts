import { MemoryError, MemoryErrorCode, refuseUnknownOptions } from '@recall/core'

/** `native` is onnxruntime-node, which is optional; `wasm` always works. */
export type Runtime = 'native' | 'wasm'

export interface RuntimeOptions {
  runtime?: Runtime | undefined
  threads?: number | undefined
}

/** @throws MemoryError INVALID_INPUT for a runtime that there is not, and for an unknown option */
export function checkRuntimeOptions({ runtime, threads: _, ...others }: RuntimeOptions): void {
  refuseUnknownOptions(others)
  if (runtime === undefined || runtime === 'native' || runtime === 'wasm') return
  const message = `runtime must be 'native' or 'wasm', not ${runtime}`
  throw new MemoryError(message, MemoryErrorCode.INVALID_INPUT)
}
