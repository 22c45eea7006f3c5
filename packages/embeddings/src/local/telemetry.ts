import { isMainThread } from 'node:worker_threads'

/**
 * Keeps onnxruntime-node, which from 1.29 on sends its maker what it runs and keeps a device id in the user's cache
 * folder, from doing either. To be called before it is loaded, and before a thread starts that will load it.
 *
 * @returns whether it is kept from it. A worker thread, and any thread of Bun, has a copy of the environment that native
 * code does not see: there it must have been turned off before, by the parent or whoever started the process.
 */
export function turnOffTelemetry(): boolean {
  if (isMainThread && !process.versions.bun) process.env.ORT_DISABLE_TELEMETRY = '1'
  return process.env.ORT_DISABLE_TELEMETRY === '1'
}
