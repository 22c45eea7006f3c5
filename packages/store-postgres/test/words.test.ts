import { createMemoryManager, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../src/postgres-store.ts'
import { keepTextConfiguration } from '../src/text-configuration.ts'
import { type Engine, emptyTables, engines } from './support.ts'

describe.each(engines)('%s', (_, open) => {
  let engine: Engine
  beforeAll(async () => {
    engine = await open()
  })
  afterAll(() => engine.close())
  beforeEach(() => emptyTables(engine.database))

  const found = async (texts: string[], text: string, textConfiguration?: string): Promise<unknown[]> => {
    const stores = createPostgresStore(engine.database, textConfiguration ? { textConfiguration } : {})
    const memory = createMemoryManager({ stores })
    for (const [i, value] of texts.entries()) await memory.write('long-term', `n${i}`, value)
    return (await memory.search('long-term', { text }, { touch: false })).map(({ value }) => value)
  }

  it('finds what a misspelled query means, and only when its words are nowhere', async () => {
    const notes = ['The connection pool leaks', 'We receive invoices by mail', 'Deploy on Fridays']
    expect(await found(notes, 'conection poool')).toEqual([notes[0]])
    expect(await found(notes, 'recieve')).toEqual([notes[1]])
    expect(await found(notes, 'conection of the mail')).toEqual([notes[1]])
    expect(await found(notes, 'zeppelin')).toEqual([])
  })

  it('splits and stems by a text search configuration', async () => {
    const notes = ["Die Häuser wurden verkauft, 'teuer' und c:\\temp", 'Der Zug kam zu spät']
    expect(await found(notes, 'haus')).toEqual([])
    await emptyTables(engine.database)
    expect(await found(notes, 'haus verkaufen', 'german')).toEqual([notes[0]])
    expect(await found(notes, "kam 'der' zug", 'german')).toEqual([notes[1]])
  })

  it('refuses words that were made by another configuration', async () => {
    await keepTextConfiguration(engine.database, 'german')
    await keepTextConfiguration(engine.database, null)
    await found(['a note'], 'note')
    await keepTextConfiguration(engine.database, null)
    await expect(keepTextConfiguration(engine.database, 'german')).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
    })
    await expect(keepTextConfiguration(engine.database, 'klingon')).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
    })
    await engine.database.execute(sql`truncate store_settings`)
  })
})
