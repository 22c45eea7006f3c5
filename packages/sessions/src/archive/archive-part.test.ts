import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Message } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { conversation, fakeLm, openMemory, readArchive, text } from '../../test/support.ts'
import { archiveSession } from './archive-session.ts'
import { readWindow } from './window.ts'

describe('parts', () => {
  const long = Array.from({ length: 10 }, (_, index) => `message ${index} ${'x'.repeat(80)}`)

  it('begin when the one before is full, and leave it alone when the session grows', async () => {
    const memory = openMemory()
    const first = await archiveSession(memory, conversation('s', long.slice(0, 5)), { partSize: 300 })
    expect(first.parts.map(({ key }) => key)).toEqual([
      'conversation:s',
      'conversation:s#2',
      'conversation:s#3',
    ])
    expect(await readArchive(memory, 's', 2)).toMatchObject({ part: 2 })
    const grown = await archiveSession(memory, conversation('s', long.slice(0, 8)), { partSize: 300 })
    expect(grown.parts.map(({ status }) => status)).toEqual(['unchanged', 'unchanged', 'replaced', 'created'])
    expect((await readWindow(memory))[0]).toMatchObject({
      messageCount: 8,
      duration: '7m',
      archive: 'conversation:s',
    })
  })

  it('are summed up in the window by the first one, and by the last one or its last answer', async () => {
    const [plain, modelled] = [openMemory(), openMemory()]
    await archiveSession(plain, conversation('s', long.slice(0, 4)), { partSize: 300 })
    expect((await readWindow(plain))[0]?.summary).toBe(`${long[0]}\n\nLast answer: ${long[3]}`)
    const lm = fakeLm('{"summary":"It began."}', '{"summary":"It ended."}')
    await archiveSession(modelled, conversation('s', long.slice(0, 4)), { partSize: 300, lm })
    expect((await readWindow(modelled))[0]?.summary).toBe('It began.\n\nIt ended.')
  })

  it('show a model how a long answer ends', async () => {
    const lm = fakeLm('{"summary":"It went well."}')
    const answer = `It begins. ${'More of it. '.repeat(1000)}The zebra is on staging.`
    await archiveSession(openMemory(), conversation('s', ['Why?', answer]), { lm })
    expect(lm.prompts[0]).toContain('Assistant: It begins.')
    expect(lm.prompts[0]).toContain('The zebra is on staging.')
  })

  it('ask a model that failed no second time', async () => {
    const lm = fakeLm(new Error('down'))
    await archiveSession(openMemory(), conversation('s', long.slice(0, 5)), { partSize: 300, lm })
    expect(lm.prompts).toHaveLength(1)
  })

  it('hold a message that is larger than a part as a whole', async () => {
    const memory = openMemory()
    const outcome = await archiveSession(memory, conversation('s', ['a'.repeat(500), 'b']), { partSize: 100 })
    expect(outcome.parts).toHaveLength(2)
    expect((await readArchive(memory, 's')).body).toContain('a'.repeat(500))
  })

  it('are filled to the last character', async () => {
    const [asked, answered] = ['a'.repeat(50), 'b'.repeat(50)]
    const size = `### User\n\n${asked}### Assistant\n\n${answered}`.length
    for (const [partSize, parts] of [
      [size, 1],
      [size - 1, 2],
    ] as const) {
      const outcome = await archiveSession(openMemory(), conversation('s', [asked, answered]), { partSize })
      expect(outcome.parts).toHaveLength(parts)
    }
  })

  it('are not held in memory together', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = (): number => {
      collect()
      return process.memoryUsage().heapUsed
    }
    const memory = openMemory()
    const forgetful: typeof memory = Object.assign(Object.create(memory), { write: async () => {} })
    let growth = 0
    async function* stream(): AsyncGenerator<Message> {
      const before = used()
      for (let index = 0; index < 30_000; index++) {
        yield { id: `m${index}`, role: 'user', content: [text(`line ${index} ${'y'.repeat(1000)}`)] }
      }
      growth = used() - before
    }
    const long = { sessionId: 's', messages: stream(), facts: { skipped: {} } }
    const { parts } = await archiveSession(forgetful, long, { partSize: 500_000 })
    expect(parts.length).toBeGreaterThan(25)
    expect(growth).toBeLessThan(10_000_000)
  })
})
