import { isMainThread } from 'node:worker_threads'

/**
 * From 1.29 on, onnxruntime-node reports to its maker what it runs, and keeps a device id in the user's cache folder.
 * This prevents both. Call it before the runtime is loaded, and before a thread starts that will load it.
 *
 * @returns whether it is prevented. A worker thread, and any thread of Bun, has a copy of the environment that native
 * code does not see: there, the parent or whatever started the process must have turned it off.
 */
export function turnOffTelemetry(): boolean {
  if (isMainThread && !process.versions.bun) process.env.ORT_DISABLE_TELEMETRY = '1'
  return process.env.ORT_DISABLE_TELEMETRY === '1'
}
