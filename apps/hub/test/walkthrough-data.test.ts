import { createVectorIndexes, type Database, rowsOf } from '@recall/store-postgres'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Engine, emptyTables, engines } from './support/open-hub.ts'

/** What a table has, in the words of Postgres. */
async function tableOf(database: Database, name: string) {
  const columns = await rowsOf<{ name: string; type: string }>(
    database,
    sql`
      select attname as name, concat_ws(' ', format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end, 'default ' || pg_get_expr(adbin, adrelid)) as type
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = ${name}::regclass and attnum > 0 and not attisdropped`,
  )
  const rules = await rowsOf<{ rule: string }>(
    database,
    sql`select pg_get_constraintdef(oid) as rule from pg_constraint where conrelid = ${name}::regclass`,
  )
  const indexes = await rowsOf<{ index: string }>(
    database,
    sql`select substring(indexdef from 'USING (.*)') as index from pg_indexes where tablename = ${name}`,
  )
  return {
    columns: Object.fromEntries(columns.map((column) => [column.name, column.type])),
    rules: rules.map(({ rule }) => rule),
    indexes: indexes.map(({ index }) => index),
  }
}

const id = 'uuid not null default gen_random_uuid()'
const createdAt = 'timestamp with time zone not null default now()'

describe.each(engines)('the tables on %s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
    await createVectorIndexes(engine.database, { table: 'memories', dimensions: 64 }, { concurrently: false })
    await emptyTables(engine.database)
  })
  afterAll(() => engine.close())

  it('2 an administrator who looks into the database finds the four tables, and nothing in them at first', async () => {
    for (const name of ['agents', 'memories', 'memory_links', 'retrieval_events'])
      expect(await rowsOf(engine.database, sql`select from ${sql.identifier(name)}`), name).toEqual([])
  })

  it('2.1 agents: known by the hash of a key, of three tiers; a name is no identity', async () => {
    const { columns, rules, indexes } = await tableOf(engine.database, 'agents')
    expect(columns).toMatchObject({
      id,
      name: 'text not null',
      api_key_hash: 'text not null',
      created_at: createdAt,
      disabled_at: 'timestamp with time zone',
      trust_level: 'smallint not null default 0',
      notes: 'text',
    })
    expect(rules).toEqual(
      expect.arrayContaining([
        'PRIMARY KEY (id)',
        'UNIQUE (api_key_hash)',
        'CHECK (((trust_level >= 0) AND (trust_level <= 2)))',
      ]),
    )
    expect(rules.filter((rule) => /UNIQUE.*name/.test(rule))).toEqual([])
    expect(indexes).toEqual(expect.arrayContaining(['btree (name)', 'btree (api_key_hash)']))
  })

  it('2.1 memories: with author, model and vector, found by tag, time, author, quality and meaning', async () => {
    const { columns, rules, indexes } = await tableOf(engine.database, 'memories')
    expect(columns).toMatchObject({
      id,
      short_id: 'text not null',
      agent_id: 'uuid not null',
      content: 'text not null',
      tags: "text[] not null default '{}'::text[]",
      source_url: 'text',
      created_at: createdAt,
      // Of any length, and absent in a tombstone and in the queue.
      embedding: 'vector',
      embedding_model: 'text not null',
      quality: 'smallint not null default 0',
      duplicate_of: 'uuid',
    })
    expect(rules).toEqual(
      expect.arrayContaining([
        'PRIMARY KEY (id)',
        'UNIQUE (short_id)',
        'FOREIGN KEY (agent_id) REFERENCES agents(id)',
        'FOREIGN KEY (duplicate_of) REFERENCES memories(id)',
        "CHECK (((quality >= '-2'::integer) AND (quality <= 0)))",
      ]),
    )
    expect(indexes).toEqual(
      expect.arrayContaining([
        'gin (tags)',
        'btree (created_at)',
        'btree (agent_id)',
        'btree (quality)',
        expect.stringMatching(/^hnsw \(.*embedding.*64.*\(quality = 0\)/),
        expect.stringMatching(/^hnsw \(.*embedding.*64.*\(quality < 0\) AND \(NOT crowded\)/),
        expect.stringMatching(/^hnsw \(.*embedding.*64.*\(quality < 0\) AND crowded/),
      ]),
    )
  })

  it('2.1 memory_links: how near two memories are, and in which relation', async () => {
    const { columns, rules, indexes } = await tableOf(engine.database, 'memory_links')
    expect(columns).toEqual({
      memory_id: 'uuid not null',
      related_id: 'uuid not null',
      relation: 'text not null',
      similarity: 'real',
      created_at: createdAt,
    })
    expect(rules).toEqual(
      expect.arrayContaining([
        expect.stringContaining('FOREIGN KEY (memory_id) REFERENCES memories(id)'),
        expect.stringContaining('FOREIGN KEY (related_id) REFERENCES memories(id)'),
      ]),
    )
    expect(indexes).toEqual(expect.arrayContaining(['btree (memory_id)', 'btree (related_id)']))
  })

  it('2.1 retrieval_events: who was given what, for which question', async () => {
    const { columns, rules, indexes } = await tableOf(engine.database, 'retrieval_events')
    expect(columns).toMatchObject({
      id,
      agent_id: 'uuid not null',
      memory_id: 'uuid not null',
      query: 'text not null',
      similarity: 'real not null',
      created_at: createdAt,
    })
    expect(rules).toEqual(
      expect.arrayContaining([
        'FOREIGN KEY (agent_id) REFERENCES agents(id)',
        expect.stringContaining('FOREIGN KEY (memory_id) REFERENCES memories(id)'),
      ]),
    )
    expect(indexes).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^btree \(memory_id\b/),
        'btree (agent_id)',
        'btree (created_at)',
      ]),
    )
  })
})
