import type { Embedder } from '@recall/core'
import { fakeEmbedder } from '@recall/embeddings'
import { memories } from '@recall/store-postgres'
import { describe, expect, it } from 'vitest'
import { engines, noLimits, openHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const tags = ['postgres', 'pool']

/** To a model without words of a script, all texts in it are alike. */
const englishOnly: Embedder = {
  ...fakeEmbedder({ dimensions: 384 }),
  scripts: ['Latin'],
  embed: (texts, mode) =>
    fakeEmbedder({ dimensions: 384 }).embed(
      texts.map((text) => text.replace(/\P{ASCII}+/gu, 'unknown')),
      mode,
    ),
}

const leak =
  'Пул соединений Postgres течёт, когда запрос прерван по времени: соединение надо вернуть в блоке finally.'
const build =
  'Сборка на сервере падает без переменной окружения с версией компилятора, хотя на машине разработчика проходит.'
const thai = 'การเชื่อมต่อกับฐานข้อมูลรั่วเมื่อคำขอหมดเวลา ต้องคืนการเชื่อมต่อในบล็อก finally เสมอ ไม่เช่นนั้นระบบจะหยุดทำงาน'

describe.each(engines)('memories in a script that the model does not know, on %s,', (_, open) => {
  const database = useDatabase(open)

  it('are told apart and found by their words', async () => {
    const hub = await openHub(database(), noLimits, { embedder: englishOnly })
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const saved = await ada.save({ content: leak, tags })
    for (const content of [build, thai]) await bob.save({ content, tags })
    const rows = await database().select().from(memories)
    expect(rows.map(({ quality, duplicateOf }) => [quality, duplicateOf])).toEqual(Array(3).fill([0, null]))
    const found = await bob.search('Почему течёт пул соединений?')
    expect(found.map(({ id }) => id)).toEqual([saved.id])
    expect(await bob.search('Why does the pool of connections leak?')).toEqual([])
  })

  it('are copies when they say the same', async () => {
    const hub = await openHub(database(), noLimits, { embedder: englishOnly })
    const [ada, bob] = [await hub.agent('ada', 1), await hub.agent('bob', 1)]
    const { id } = await ada.save({ content: leak, tags })
    const again = await bob.save({ content: leak.replace('надо', 'нужно'), tags })
    expect(again.similar).toMatchObject([{ id, relation: 'duplicate_candidate' }])
  })
})
