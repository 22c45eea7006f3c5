import { createMemoryManager, MemoryErrorCode } from '@recall/core'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { keepTextConfiguration } from '../src/engines/text-configuration.ts'
import { createPostgresStore } from '../src/postgres-store.ts'
import { type Engine, emptyTables, engines } from './support/engines.ts'

describe.each(engines)('%s', (name, open) => {
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

  it('takes a misspelled word for the one it was meant to be, and no other word for it', async () => {
    const notes = ['The deployment of a server', 'Walk across the harbour', 'Memory of a migration']
    expect(await found(notes, 'deplyoment of the srever')).toEqual([notes[0]])
    expect(await found(notes, 'memroy')).toEqual([notes[2]])
    expect(await found(notes, 'migraiton')).toEqual([notes[2]])
    expect(await found(notes, 'zebra crossings')).toEqual([])
    // A short word with two letters wrong is another one.
    expect(await found(['A house by the sea'], 'hovel')).toEqual([])
  })

  it('takes no number for another one', async () => {
    const notes = ['The release of 2026', 'Ticket PAY1234 is closed', 'Walk across the harbour']
    expect(await found(notes, 'May 2023')).toEqual([])
    expect(await found(notes, 'PAY1235')).toEqual([])
    expect(await found(notes, 'PAY1235 habrour')).toEqual([notes[2]])
  })

  it('looks for the first words of a question that holds thousands', async () => {
    const han = Array.from({ length: 9990 }, (_, i) => String.fromCharCode(0x4e00 + i)).join('')
    expect(await found([`${han.slice(2, 6)} hello`, 'nothing of it'], han)).toEqual([
      `${han.slice(2, 6)} hello`,
    ])
  })

  it('splits and stems by a text search configuration', async () => {
    const notes = ["Die Häuser wurden verkauft, 'teuer' und c:\\temp", 'Der Zug kam zu spät']
    expect(await found(notes, 'haus')).toEqual([])
    await emptyTables(engine.database)
    expect(await found(notes, 'haus verkaufen', 'german')).toEqual([notes[0]])
    expect(await found(notes, "kam 'der' zug", 'german')).toEqual([notes[1]])
    expect(await found(notes, 'zug\u0000haus', 'german')).toHaveLength(2)
    expect(await found(notes, '\u0000', 'german')).toEqual([])
  })

  it('is split as the first one wants who opens it, where others may have it open', async () => {
    const { database } = engine
    await keepTextConfiguration(database, 'german')
    const second = keepTextConfiguration(database, null)
    if (name === 'pglite') await second
    else {
      await expect(second).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT })
      await database.execute(sql`update store_settings set text_configuration = null`)
      await keepTextConfiguration(database, null)
      await expect(keepTextConfiguration(database, 'german')).rejects.toThrow('split by the default')
    }
    await keepTextConfiguration(database, null)
    await database.execute(sql`truncate store_settings`)
  })

  it('is split by core where entries are from before anybody decided', async () => {
    await found(['a note'], 'note')
    await engine.database.execute(sql`truncate store_settings`)
    await expect(keepTextConfiguration(engine.database, 'german')).rejects.toMatchObject({
      code: MemoryErrorCode.CONFLICT,
    })
    await engine.database.execute(sql`truncate store_settings`)
  })

  it('refuses words that were made by another configuration', async () => {
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
