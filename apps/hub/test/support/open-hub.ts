import { connectHub, type HubClient, registerAgent } from '@recall/client'
import { type Clock, type Embedder, isMemoryError } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { agents, type Database } from '@recall/store-postgres'
import { openPglite } from '@recall/store-postgres/pglite'
import { eq, sql } from 'drizzle-orm'
import {
  openServerDatabase,
  serverUrl,
} from '../../../../packages/store-postgres/test/support/server-database.ts'
import { template } from '../../../../packages/store-postgres/test/support/template.ts'
import { type HubSettings, parseConfig } from '../../src/config/config.ts'
import { createHub, type RunningHub } from '../../src/create-hub.ts'
import { type ApiDocument, describedBy } from './as-described.ts'

export interface Engine {
  database: Database
  close(): Promise<void>
}

const openEmbedded = async (): Promise<Engine> => openPglite({ template: await template() })

/** The databases that tests run on here. */
export const engines: [name: string, open: () => Promise<Engine>][] = [
  ['pglite', openEmbedded],
  ...(serverUrl ? [['postgres', openServerDatabase] as [string, () => Promise<Engine>]] : []),
]

/** Takes the time of what there is: to truncate all tables takes longer than most tests. */
export const emptyTables = (database: Database) =>
  database.execute(sql`
    do $$ begin
      -- The rows that are deleted stay in an index of vectors.
      if exists (select from memories) then truncate memories cascade; end if;
      if exists (select from units) then truncate units; end if;
      delete from entries;
      delete from place_sizes;
      delete from idempotency_keys;
      delete from rate_limits;
      delete from private_namespaces;
      delete from vouches;
      delete from agents;
      delete from system_config;
    end $$`)

const plenty = [{ requests: 1_000_000, seconds: 60 }]
const tier = { write: plenty, search: plenty, get: plenty }

/** Limits that no test meets by accident. */
export const noLimits = {
  limits: {
    tiers: { unverified: tier, trusted: tier, core: tier },
    register: plenty,
    private: plenty,
    mcp: plenty,
  },
}

export interface TestHub extends RunningHub {
  database: Database
  /** An agent of a tier, and its client. */
  agent(name: string, trustLevel?: 0 | 1 | 2): Promise<TestAgent>
  request(
    method: string,
    path: string,
    options?: { key?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<Response>
}

export interface TestAgent extends HubClient {
  id: string
  key: string
}

export async function openHub(
  database: Database,
  settings: HubSettings = noLimits,
  { clock, embedder = fakeEmbedder() }: { clock?: Clock; embedder?: Embedder } = {},
): Promise<TestHub> {
  const hub = await createHub(parseConfig(settings), { database, embedder, ...(clock ? { clock } : {}) })
  // What a search returned is recorded while it is answered: tests look at what is recorded.
  let check: ReturnType<typeof describedBy> | undefined
  const fetch = async (request: Request): Promise<Response> => {
    const answer = await hub.fetch(request)
    await hub.settled()
    check ??= await checkOf(hub, request)
    await check?.(request, answer)
    return answer
  }
  const http = { url: 'http://localhost', fetch, retries: 0 }
  return {
    ...hub,
    fetch,
    database,
    async agent(name, trustLevel = 0) {
      const { id, apiKey } = await registerAgent(http, name)
      if (trustLevel > 0) await database.update(agents).set({ trustLevel }).where(eq(agents.id, id))
      return { ...connectHub({ ...http, apiKey }), id, key: apiKey }
    },
    async request(method, path, { key, body, headers } = {}) {
      return fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: {
            ...(key ? { Authorization: `Bearer ${key}` } : {}),
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...headers,
          },
          ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      )
    },
  }
}

const checks = new Map<string, ReturnType<typeof describedBy>>()

/** A check of answers against the hub's own description, unless it refuses whoever sent the request. */
async function checkOf(hub: RunningHub, { url, headers }: Request) {
  const api = await hub.fetch(new Request(new URL('/openapi.json', url), { headers }))
  if (!api.ok) return undefined
  const description = await api.text()
  // To compile it takes longer than most tests, and most hubs describe themselves alike.
  const check = checks.get(description) ?? describedBy(JSON.parse(description) as ApiDocument)
  checks.set(description, check)
  return check
}

/** Every call that the API description names. */
export async function routesOf(hub: TestHub): Promise<[method: string, path: string][]> {
  const { paths } = (await (await hub.request('GET', '/openapi.json')).json()) as {
    paths: Record<string, Record<string, unknown>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method): [string, string] => [method.toUpperCase(), path]),
  )
}

/** Texts of different subjects, long enough to be kept. */
export const lesson = (subject: string): string => {
  const words = [...subject].map((letter, i) => `${subject}${i}${letter}`).join(' ')
  return `${subject} ${words} failed under load until the ${subject} pool was raised; ${words} then held for days.`.padEnd(
    90,
    ` ${subject}`,
  )
}

/** What a call returns, or the code of the error that it fails with. */
export const codeOf = async (call: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await call()
  } catch (error) {
    return isMemoryError(error) ? error.code : error
  }
}
