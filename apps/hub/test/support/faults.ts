import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type HubSettings, parseConfig } from '../../src/config/config.ts'
import { serveHub } from '../../src/serve.ts'
import { noLimits } from './open-hub.ts'
import { temporaryFolder } from './temporary-folder.ts'

export const tags = ['fault', 'test']
export const lesson = (n: number): string =>
  `Lesson ${n}: the service ${n * 7919} failed under load until its settings were raised, number ${n * 104_729}.`

/** Tells of failures here: an answer that is none counts as status 0. */
export async function send(
  url: string,
  path: string,
  { key, body, headers }: { key?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{
  status: number
  type: string | null
  retryAfter: string | null
  json: Record<string, unknown>
}> {
  try {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...(key ? { Authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return {
      status: answer.status,
      type: answer.headers.get('Content-Type'),
      retryAfter: answer.headers.get('Retry-After'),
      json: (await answer.json()) as Record<string, unknown>,
    }
  } catch {
    return { status: 0, type: null, retryAfter: null, json: {} }
  }
}

export const register = async (url: string): Promise<string> =>
  (await send(url, '/agents/register', { body: { name: 'ada' } })).json.api_key as string

export const save = (url: string, key: string, n: number) =>
  send(url, '/memory', {
    key,
    body: { content: lesson(n), tags },
    headers: { 'Idempotency-Key': `save-${n}` },
  })

export async function listening(
  settings: HubSettings,
  log: (line: Record<string, unknown>) => void = () => {},
) {
  const hub = await serveHub(
    parseConfig({ ...noLimits, port: 0, embedding: { provider: 'fake' }, ...settings }),
    log,
  )
  onTestFinished(() => hub.close())
  return hub
}

/** Settings that have no variable of their own. */
function limitsFile(): string {
  const path = join(temporaryFolder(), 'hub.json')
  writeFileSync(path, JSON.stringify(noLimits))
  return path
}

export const storming = (url: string): Record<string, string> => ({
  POSTGRES_URL: url,
  EMBEDDING_PROVIDER: 'fake',
  CONFIG: limitsFile(),
})
