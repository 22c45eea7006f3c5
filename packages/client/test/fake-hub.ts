import { isMemoryError } from '@recall/core'
import { connectHub, type HubClient } from '../src/index.ts'

export type Answer = Response | Error

/** A hub that gives these answers in turn, and what it was asked. */
export function hubOf(answers: Answer[]): { hub: HubClient; requests: Request[]; pauses: number[] } {
  const requests: Request[] = []
  const pauses: number[] = []
  const hub = connectHub({
    url: 'https://hub.example/below',
    apiKey: 'recall_key',
    async fetch(request) {
      requests.push(request)
      const answer = answers.shift()
      if (answer instanceof Response) return answer
      throw answer ?? new Error('nothing was expected')
    },
    wait: async (milliseconds) => void pauses.push(milliseconds),
  })
  return { hub, requests, pauses }
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers })

export const failure = async (
  call: Promise<unknown>,
): Promise<{ code: string; retryAfterMs?: number | undefined }> => {
  const error: unknown = await call.catch((error: unknown) => error)
  if (!isMemoryError(error)) throw new Error(`no MemoryError: ${String(error)}`)
  return { code: error.code, retryAfterMs: error.retryAfterMs }
}

export const memory = { content: 'x'.repeat(100), tags: ['a', 'b'] }
export const saved = { id: '1', short_id: 'RCL-1', status: 'saved', similar: [] }
