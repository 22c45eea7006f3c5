import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectHub, type HubClient, registerAgent } from '@recall/client'
import type { Clock, Embedder } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { agents, type Database } from '@recall/store-postgres'
import { openPglite } from '@recall/store-postgres/pglite'
import { openPostgres } from '@recall/store-postgres/postgres'
import { eq, sql } from 'drizzle-orm'
import { type HubSettings, parseConfig } from '../src/config/config.ts'
import { createHub, type RunningHub } from '../src/create-hub.ts'
import { template } from './template.ts'

export const serverUrl = process.env.RECALL_TEST_POSTGRES_URL

if (!serverUrl)
  process.stderr.write('tests on a Postgres server are skipped: RECALL_TEST_POSTGRES_URL is not set\n')

export interface Engine {
  database: Database
  close(): Promise<void>
}

const openEmbedded = async (): Promise<Engine> => openPglite({ template: await template() })

/** An empty database on the server. */
export async function openServerDatabase(): Promise<Engine & { url: string }> {
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`
  // Dropping a database waits for a checkpoint.
  const admin = await openPostgres({
    url: serverUrl ?? '',
    migrations: false,
    connections: 1,
    timeoutMs: 120_000,
  })
  await admin.database.execute(sql.raw(`create database ${name}`))
  const url = new URL(serverUrl ?? '')
  url.pathname = name
  const { database, close } = await openPostgres({ url: url.href })
  return {
    database,
    url: url.href,
    async close() {
      await close()
      await admin.database.execute(sql.raw(`drop database ${name} with (force)`))
      await admin.close()
    },
  }
}

/** The databases that tests run on here. */
export const engines: [name: string, open: () => Promise<Engine>][] = [
  ['pglite', openEmbedded],
  ...(serverUrl ? [['postgres', openServerDatabase] as [string, () => Promise<Engine>]] : []),
]

export const emptyTables = (database: Database) =>
  database.execute(
    sql`truncate entries, units, place_sizes, agents, memories, memory_links, retrieval_events, citations, system_config, idempotency_keys, vouches, rate_limits, private_namespaces`,
  )

const plenty = [{ requests: 1_000_000, seconds: 60 }]
const tier = { write: plenty, search: plenty, get: plenty }

/** Limits that no test meets by accident. */
export const noLimits = {
  limits: { tiers: { unverified: tier, trusted: tier, core: tier }, register: plenty, private: plenty },
}

const folders: string[] = []

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-hub-'))
  folders.push(folder)
  return folder
}

process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

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
  const http = { url: 'http://localhost', fetch: hub.fetch, retries: 0 }
  return {
    ...hub,
    database,
    async agent(name, trustLevel = 0) {
      const { id, apiKey } = await registerAgent(http, name)
      if (trustLevel > 0) await database.update(agents).set({ trustLevel }).where(eq(agents.id, id))
      return { ...connectHub({ ...http, apiKey }), id, key: apiKey }
    },
    async request(method, path, { key, body, headers } = {}) {
      return hub.fetch(
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
