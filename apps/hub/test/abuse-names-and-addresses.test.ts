import { memories, retrievalEvents } from '@recall/store-postgres'
import { eq } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { content, tags } from './support/abuse-content.ts'
import { engines, openHub, type TestHub } from './support/open-hub.ts'
import { useDatabase } from './support/use-database.ts'

const keyId = ['AKIA', 'IOSFODNN7QWERTYZ'].join('')
const secret = ['ghp', '_', 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8'].join('')

describe.each(engines)('names and addresses that abuse the hub on %s', (_, open) => {
  const database = useDatabase(open)
  let hub: TestHub
  beforeEach(async () => {
    hub = await openHub(database())
  })

  const post = (path: string, key: string, body: unknown): Promise<Response> =>
    hub.request('POST', `/api/v1/${path}`, { key, body })

  it('keeps names and tags to what they look like', async () => {
    const { key } = await hub.agent('ada', 1)
    for (const name of [
      '',
      ' ',
      'a\nb',
      'a\u0000b',
      '\u001b[31mred',
      'x'.repeat(101),
      '\ud800',
      '\u202eada',
      'ad\u200ba',
      '\u200b',
      '\u3164',
      `bot ${secret}`,
      // Eighteen characters each, once they are normalized.
      '\ufdfa'.repeat(6),
    ]) {
      const { status } = await hub.request('POST', '/api/v1/agents/register', { body: { name } })
      expect([name, status]).toEqual([name, 400])
    }
    const saved = async (given: string[]): Promise<string[] | number> => {
      const answer = await post('memory', key, { content: content(given.join(' ')), tags: given })
      if (answer.status !== 201) return answer.status
      const { id } = (await answer.json()) as { id: string }
      const [row] = await database().select().from(memories).where(eq(memories.id, id))
      return row?.tags ?? []
    }
    expect(await saved(['Redis', 'redis', 'ＲＥＤＩＳ', 'lua'])).toEqual(['redis', 'lua'])
    expect(await saved(['café', 'cafe\u0301', 'milk'])).toEqual(['café', 'milk'])
    expect(await saved(['redis', 're\u200bdis', 'lua'])).toEqual(['redis', 'lua'])
    expect(await saved(['\u200b redis', 'lua'])).toEqual(['redis', 'lua'])
    // One of them twice.
    expect(await saved(['Redis', 'redis'])).toBe(400)
    for (const tag of [
      'a\nb',
      '\u0000',
      '\ud800',
      '',
      '\u200b',
      '\u3164',
      'x'.repeat(65),
      '\ufdfa'.repeat(4),
      // Two characters each, once they are in lower case.
      '\u0130'.repeat(33),
    ]) {
      expect([tag, await saved([tag, 'other'])]).toEqual([tag, 400])
    }
  })

  it('counts an emoji in a name or a tag as one character', async () => {
    const { key } = await hub.agent('ada', 1)
    const register = async (name: string): Promise<number> =>
      (await hub.request('POST', '/api/v1/agents/register', { body: { name } })).status
    const tag = async (text: string): Promise<number> =>
      (await post('memory', key, { content: content(text), tags: [text, 'other'] })).status
    expect([await register('🦊'.repeat(100)), await register('🦊'.repeat(101))]).toEqual([201, 400])
    expect([await tag('🦊'.repeat(64)), await tag('🦊'.repeat(65))]).toEqual([201, 400])
  })

  it('keeps no address that looks like another', async () => {
    const { key } = await hub.agent('ada', 1)
    for (const source_url of [
      'https://example.com/\u001b[2J',
      'https://example.com/\u202egpj.exe',
      'https://exam\u200bple.com/',
      'https://example.com/\u2028x',
    ]) {
      const answer = await post('memory', key, { content: content('an address'), tags, source_url })
      expect([source_url, answer.status]).toEqual([source_url, 400])
    }
  })

  it.each(['text', 'http://', 'https://[', 'ftp://example.com/x', ''])(
    'says that %j is no address to check',
    async (source_url) => {
      const { key } = await hub.agent('ada', 1)
      const answer = await post('memory', key, { content: content('an address'), tags, source_url })
      expect(answer.status).toBe(400)
      expect(await answer.json()).toMatchObject({ errors: [{ pointer: '#/source_url' }] })
    },
  )

  it('says of an address that it is too long, and takes one that is not', async () => {
    const { key } = await hub.agent('ada', 1)
    const save = (length: number) => {
      const source_url = 'https://example.com/'.padEnd(length, 'x')
      return post('memory', key, { content: content(`${length}`), tags, source_url })
    }
    expect((await save(2048)).status).toBe(201)
    expect(await (await save(2049)).json()).toMatchObject({
      detail: 'source_url: must have at most 2048 characters',
    })
  })

  it('takes an address that is null for none', async () => {
    const { key } = await hub.agent('ada', 1)
    const saved = await post('memory', key, { content: content('none'), tags, source_url: null })
    expect(saved.status).toBe(201)
    const { id } = (await saved.json()) as { id: string }
    const read = await hub.request('GET', `/api/v1/memory/${id}`, { key })
    expect(await read.json()).toMatchObject({ memory: { source_url: null } })
  })

  it('keeps no secret that comes with an address, a tag or a question', async () => {
    const { key } = await hub.agent('ada', 1)
    const save = (more: object) => post('memory', key, { content: content('redis'), tags, ...more })
    for (const who of ['ana:hunter2', 'hunter2', ':hunter2'])
      expect((await save({ source_url: `https://${who}@example.com/` })).status).toBe(400)
    const leaks = [
      { source_url: `https://example.com/?token=${secret}` },
      { tags: ['leak', secret] },
      { tags: ['leak', keyId] },
    ]
    for (const leak of leaks) {
      const saved = await save(leak)
      expect(saved.status).toBe(201)
      expect(JSON.stringify(await saved.json())).toContain('a secret was replaced')
    }
    await hub.request(
      'GET',
      `/api/v1/memory/search?q=${encodeURIComponent(`${content('redis')} ${secret}`)}`,
      { key },
    )
    const rows = [await database().select().from(memories), await database().select().from(retrievalEvents)]
    expect(rows.map(({ length }) => length)).toEqual([3, 3])
    // In lower case, tags are kept.
    for (const each of [secret, keyId])
      expect(JSON.stringify(rows).toLowerCase()).not.toContain(each.toLowerCase())
  })
})
