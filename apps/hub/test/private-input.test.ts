import { MemoryErrorCode, parseFilter, shortTermTtl } from '@recall/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import * as wire from '../src/private/wire.ts'
import { type Engine, engines, noLimits, openHub, type TestHub } from './support/open-hub.ts'

const vector = [1, 0]
const entry = { key: 'k', value: 'the pool leaks' }

describe.each(engines)('what an agent sends of its own on %s', (_, open) => {
  let engine: Engine
  let hub: TestHub
  let key: string
  beforeAll(async () => {
    engine = await open()
    hub = await openHub(engine.database, noLimits)
    key = (await hub.agent('ada')).key
  })
  afterAll(() => engine.close())

  const send = (operation: string, body: unknown) =>
    hub.request('POST', `/api/v1/private/long-term/${operation}`, { key, body })

  it.each<[string, string, object, string]>([
    ['a model with a NUL', 'put', { entry: { ...entry, embedding: { model: 'a\u0000', vector } } }, 'model'],
    [
      'a model with half a character',
      'put',
      { entry: { ...entry, embedding: { model: '\ud800', vector } } },
      'model',
    ],
    ['a key with a control character of Latin-1', 'put', { entry: { ...entry, key: 'a\u0085b' } }, 'key'],
    [
      'a question by a model with a NUL',
      'find',
      { text: 'pool', embedding: { model: 'a\u0000', vector } },
      'model',
    ],
    [
      'units of another length',
      'put',
      { entry: { ...entry, embedding: { model: 'm', vector, units: [[1, 2, 3]] } } },
      'embedding',
    ],
    ['tags of which none is left', 'remove-all', { tags: [] }, 'tags'],
    ['a ttl that ends after all dates', 'put', { entry: { ...entry, ttl: 1e15 } }, 'entry'],
    ['an expiry that no date has', 'put', { entry: { ...entry, expiresAt: 1e300 } }, 'entry'],
    ['a time that no date has', 'put', { entry, now: 1e300 }, 'now'],
    ['a time before all dates', 'touch', { keys: ['k'], now: -1e300 }, 'now'],
    ...['createdAt', 'updatedAt', 'accessedAt'].map((name): [string, string, object, string] => [
      `${name} that no date has`,
      'commit',
      { changes: [{ put: { ...entry, [name]: 1e300 } }] },
      'changes',
    ]),
  ])('is refused where it is wrong: %s', async (_, operation, body, path) => {
    const answer = await send(operation, body)
    const problem = (await answer.json()) as { code: string; errors: { pointer: string }[] }
    expect([answer.status, problem.code]).toEqual([400, MemoryErrorCode.INVALID_INPUT])
    expect(problem.errors.map(({ pointer }) => pointer).join()).toContain(path)
    expect(await (await send('stats', {})).json()).toEqual({ entries: 0, bytes: 0 })
  })

  const nested = (kind: 'not' | 'element', depth: number): object =>
    depth === 0
      ? { kind: 'all', filters: [] }
      : { kind, filter: nested(kind, depth - 1), ...(kind === 'element' ? { path: ['a'] } : {}) }
  const wide = (parts: number): object => ({
    kind: 'any',
    filters: Array.from({ length: parts / 250 }, () => ({
      kind: 'any',
      filters: Array.from({ length: 249 }, () => nested('not', 0)),
    })),
  })
  const ones = (count: number): object => ({ a: Array(count - 1).fill(1) })
  const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)])

  it.each<[string, string, object, string]>([
    [
      'a filter that is nested deeper than any of the language',
      'find',
      { filter: nested('not', 400) },
      'filter',
    ],
    ['one that looks into lists of lists', 'find', { filter: nested('element', 400) }, 'filter'],
    ['one with more parts than any of the language', 'find', { filter: wide(5000) }, 'filter'],
    [
      'an operand that is nested deeper than any value',
      'find',
      { filter: { kind: 'compare', path: ['a'], operator: 'eq', operand: deep(2000) } },
      'filter',
    ],
    [
      'an expected value that is',
      'commit',
      { changes: [{ remove: 'k', expected: { updatedAt: 0, value: deep(2000) } }] },
      'changes',
    ],
    ['a change of nothing, and what is no change', 'commit', { changes: [{}, null] }, 'changes/0'],
    [
      'vectors of units that are not of one length, and no list',
      'put',
      { entry: { key: 'k', value: 1, embedding: { model: 'm', vector: [], units: [[], null] } } },
      'entry/embedding/units/0',
    ],
    ['a filter that negates none', 'find', { filter: { kind: 'not', filter: null } }, 'filter'],
    ['a value of too many items', 'put', { entry: { key: 'k', value: ones(100_000) } }, 'entry/value'],
    [
      'values of too many together',
      'commit',
      {
        changes: Array.from({ length: 10 }, (_, i) => ({
          put: { key: `${i}`, value: ones(5000) },
          expected: { updatedAt: 0, value: ones(5000) },
        })),
      },
      'changes',
    ],
    [
      'an operand of too many items',
      'find',
      { filter: { kind: 'compare', path: ['a'], operator: 'eq', operand: Array(100_000).fill(1) } },
      'filter/operand',
    ],
    [
      'lists of too many values together',
      'find',
      {
        filter: {
          kind: 'any',
          filters: ['in', 'nin', 'overlap'].map((operator) => ({
            kind: 'compare',
            path: ['a'],
            operator,
            operand: Array(334).fill(1),
          })),
        },
      },
      'filter',
    ],
    [
      'a condition on too many values',
      'find',
      { filters: { a: { $overlap: Array(1001).fill(1) } } },
      'filters',
    ],
    ['conditions of too many', 'find', { filters: { a: { $in: Array(100_000).fill(1) } } }, 'filters'],
  ])('is refused before the database sees it: %s', async (_, operation, body, path) => {
    const answer = await send(operation, body)
    const problem = (await answer.json()) as { code: string; errors: { pointer: string }[] }
    expect([answer.status, problem.code]).toEqual([400, MemoryErrorCode.INVALID_INPUT])
    expect(problem.errors.map(({ pointer }) => pointer).join()).toContain(path)
  })

  it.each([
    ['touch', { keys: ['k'] }],
    ['stats', {}],
    ['stamp', { key: 'k' }],
    ['archive', { before: 1 }],
    ['restore', { key: 'k' }],
  ])(
    'is refused where it asks of the archive what only the memory itself has: %s',
    async (operation, body) => {
      const statuses = [true, false].map(
        async (archived) => (await send(operation, { ...body, archived })).status,
      )
      expect(await Promise.all(statuses)).toEqual([400, 200])
    },
  )

  it('is kept where it has as many items as it may', async () => {
    expect((await send('put', { entry: { key: 'many', value: ones(99_999) } })).status).toBe(200)
    expect((await send('remove', { key: 'many' })).status).toBe(200)
  })

  it('finds by filters as large as the language has them', async () => {
    const inner = (depth: number): object =>
      depth === 0 ? { a: 1 } : { a: { $not: { $elemMatch: { b: 1, ...inner(depth - 1) } } } }
    const filters = [
      inner(6),
      { $or: Array.from({ length: 150 }, (_, i) => ({ [`a${i}`]: { gt: 1, lt: 0 } })) },
    ]
    for (const each of filters) {
      const answer = await send('find', { filter: parseFilter(each as Record<string, unknown>) })
      expect(answer.status).toBe(200)
    }
  })

  it('finds by a condition on a member of any name', async () => {
    const namespace = 'names'
    const value = JSON.parse('{"__proto__": 1}')
    await send('put', { namespace, entry: { ...entry, key: 'named', value } })
    await send('put', { namespace, entry })
    const answer = await send('find', { namespace, filters: value })
    const { found } = (await answer.json()) as { found: { entry: { key: string } }[] }
    expect(found.map(({ entry }) => entry.key)).toEqual(['named'])
  })

  it('is refused where the key holds a secret, which is not repeated', async () => {
    const secret = `ghp_${'A1b2C3d4'.repeat(5).slice(0, 36)}`
    const answer = await send('put', { entry: { ...entry, key: secret } })
    expect(answer.status).toBe(400)
    expect(await answer.text()).not.toContain(secret)
    expect(await (await send('stats', {})).json()).toEqual({ entries: 0, bytes: 0 })
  })

  it('finds by a vector alone the nearest first, and all by blanks', async () => {
    const { key } = await hub.agent('joan')
    const ask = (operation: string, body: object) =>
      hub.request('POST', `/api/v1/private/long-term/${operation}`, { key, body })
    for (const [name, at, now] of [
      ['near', [1, 0], 1000],
      ['far', [0.8, 0.6], 2000],
    ] as const)
      await ask('put', { entry: { key: name, value: name, embedding: { model: 'm', vector: at } }, now })
    const find = async (question: object) => {
      const { found } = (await (await ask('find', question)).json()) as {
        found: { entry: { key: string } }[]
      }
      return found.map(({ entry }) => entry.key)
    }
    expect(await find({ embedding: { model: 'm', vector } })).toEqual(['near', 'far'])
    expect(await find({ text: ' \n' })).toEqual(['far', 'near'])
  })

  it('is kept as any memory is where it does not say how', async () => {
    const { key: own } = await hub.agent('emmy')
    const call = async (operation: string, body: object) =>
      (await hub.request('POST', `/api/v1/private/short-term/${operation}`, { key: own, body })).json()
    const kept = async (more: object) => {
      await call('put', { entry: { ...entry, ...more }, now: 1 })
      return ((await call('get', { key: 'k', now: 1 })) as { entry: object }).entry
    }
    const standard = { text: 'the pool leaks', type: null, ttl: shortTermTtl, expiresAt: 1 + shortTermTtl }
    expect(await kept({ tags: ['pool', 'leak', 'pool'] })).toMatchObject({
      ...standard,
      tags: ['pool', 'leak'],
      createdAt: 1,
    })
    expect(await kept({ ttl: null })).toMatchObject({ ttl: null, expiresAt: null })
    expect(await kept({ ttl: 1500.2 })).toMatchObject({ ttl: 1501, expiresAt: 1502 })
    expect(await kept({ value: { type: 'playbook' } })).toMatchObject({ type: 'playbook' })
    expect(await kept({ value: { type: 'playbook' }, type: null })).toMatchObject({ type: null })
    // What looks like a secret in what is encrypted is none, and would be lost.
    const value = `ghp_${'A1b2C3d4'.repeat(5).slice(0, 36)}`
    expect(await kept({ encrypted: true, value })).toMatchObject({ text: '', value })
  })

  it('is answered as the description says, and with nothing more', async () => {
    const sent = { ...entry, tags: ['pool'], embedding: { model: 'm', vector }, ttl: 1e9, type: 'note' }
    const question = { text: 'pool leaks', passages: 2, embedding: { model: 'm', vector } }
    const calls = [
      ['put', { entry: sent }, wire.done],
      ['get', { key: 'k' }, wire.gotten],
      ['get', { key: 'absent' }, wire.gotten],
      ['get-many', { keys: ['k', 'absent', 'k'] }, wire.gottenMany],
      ['find', question, wire.found],
      ['find', {}, wire.found],
      ['touch', { keys: ['k'] }, wire.done],
      ['stats', {}, wire.stats],
      ['stamp', { key: 'k' }, wire.stamped],
      ['sweep', {}, wire.counted],
      ['commit', { changes: [{ put: entry }] }, wire.done],
      ['remove', { key: 'k' }, wire.removed],
      ['remove-all', {}, wire.counted],
    ] as const
    for (const [operation, body, described] of calls) {
      const answer: unknown = await (await send(operation, body)).json()
      expect(described.parse(answer)).toEqual(answer)
    }
  })

  it('has a stamp, by which a cache tells that it was written again and that it was only read', async () => {
    const namespace = 'stamped'
    const stamp = async (): Promise<string | null> =>
      ((await (await send('stamp', { namespace, key: 'k' })).json()) as { stamp: string | null }).stamp
    expect(await stamp()).toBeNull()
    await send('put', { namespace, entry })
    const first = await stamp()
    expect(first).toEqual(expect.any(String))
    await send('touch', { namespace, keys: ['k'] })
    expect(await stamp()).toBe(first)
    await send('put', { namespace, entry })
    expect(await stamp()).not.toBe(first)
  })

  it('may be as long a question as any memory takes, with days in it', async () => {
    const { memory } = await hub.agent('grace')
    const days = Array.from({ length: 900 }, (_, i) => `${2000 + (i % 25)}-12-${10 + (i % 19)}`)
    expect(await memory.search('long-term', { text: `${days.join(' ')} `.padEnd(10_000, 'x ') })).toEqual([])
  })

  it.each<[string, string, object, [pointer: string, name: string]]>([
    ['put', 'an entry', { entry: { ...entry, tag: ['pool'] } }, ['#/entry', 'tag']],
    ['put', 'a call', { entry, overwrit: false }, ['#', 'overwrit']],
    [
      'put',
      'a vector',
      { entry: { ...entry, embedding: { model: 'm', vector, unit: 1 } } },
      ['#/entry/embedding', 'unit'],
    ],
    ['find', 'a question', { text: 'pool', tag: ['pool'] }, ['#', 'tag']],
    ['find', 'its vector', { embedding: { model: 'm', vector, mean: 1 } }, ['#/embedding', 'mean']],
    [
      'find',
      'a filter',
      { filter: { kind: 'not', filter: { kind: 'all', filters: [], path: [] } } },
      ['#/filter/filter', 'path'],
    ],
    ['remove-all', 'a selection', { tag: ['pool'] }, ['#', 'tag']],
    ['commit', 'a change', { changes: [{ put: { ...entry, tag: [] } }] }, ['#/changes/0/put', 'tag']],
    ['commit', 'a removal', { changes: [{ remove: 'k', key: 'k' }] }, ['#/changes/0', 'key']],
    ['stats', 'a place', { name: 'other' }, ['#', 'name']],
  ])('%s knows every member of %s', async (operation, _, body, [pointer, name]) => {
    const answer = await send(operation, body)
    const problem = (await answer.json()) as { code: string; errors: object[] }
    expect([answer.status, problem.code]).toEqual([400, MemoryErrorCode.INVALID_INPUT])
    expect(problem.errors).toEqual([{ pointer, detail: `Unrecognized key: "${name}"` }])
  })

  it('is refused without repeating a secret among its members, or all of their names', async () => {
    const secret = `ghp_${'A1b2C3d4'.repeat(5).slice(0, 36)}`
    const unknown = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`member-${i}`, i]))
    const answer = await send('put', { entry: { ...entry, [secret]: 1, ...unknown } })
    const text = await answer.text()
    expect([answer.status, text.includes(secret), text.includes('member-1')]).toEqual([400, false, true])
    expect(text.length).toBeLessThan(5000)
  })

  it.each([{}, { put: entry, remove: 'k' }])(
    'is a change with either put or remove, not %j',
    async (change) => {
      const answer = await send('commit', { changes: [change] })
      const { errors } = (await answer.json()) as { errors: object[] }
      expect(errors).toEqual([{ pointer: '#/changes/0', detail: 'must have either put or remove' }])
    },
  )

  it('may be a text that fills the body', async () => {
    const narrow = await openHub(engine.database, { ...noLimits, maxBody: 20_000 })
    const { memory } = await narrow.agent('alan')
    const value = 'the pool leaks under load. '.repeat(700)
    await memory.write('long-term', 'long', value)
    await memory.batchWrite('long-term', [{ key: 'batched', value: { lines: [value] } }])
    expect(await memory.read('long-term', 'long')).toBe(value)
    const found = await memory.search('long-term', { text: 'which pool leaks' })
    expect(found.map(({ key }) => key).sort()).toEqual(['batched', 'long'])
  })

  const turns = (count: number): object => ({ text: '## \n'.repeat(count), type: 'conversation' })
  const long = { model: 'm', vector: Array(16_000).fill(1) }

  it.each<[string, string, object[]]>([
    ['a conversation of too many turns', 'parts', [turns(20_001)]],
    ['conversations of too many turns together', 'parts', [turns(10_001), turns(10_000)]],
    ['a long vector for each part of a text', 'vectors', [{ text: 'pool '.repeat(50_000), embedding: long }]],
    ['long vectors together', 'vectors', Array(132).fill({ embedding: long })],
  ])('is refused where it would be far more than it is as it came: %s', async (_, what, made) => {
    const puts = made.map((each, i) => ({ put: { ...entry, key: `${i}`, ...each } }))
    const answers = [await send('commit', { changes: puts })]
    if (puts.length === 1) answers.push(await send('put', { entry: puts[0]?.put }))
    for (const answer of answers) {
      expect(answer.status).toBe(413)
      expect(await answer.json()).toMatchObject({
        detail: expect.stringMatching(`^the .*${what}.*send less`),
      })
    }
    expect(await (await send('stats', {})).json()).toEqual({ entries: 0, bytes: 0 })
  })

  it('may have as many turns as are taken at once', async () => {
    expect((await send('put', { entry: { ...entry, ...turns(19_999) } })).status).toBe(200)
    expect((await send('remove', { key: 'k' })).status).toBe(200)
  })

  it('is read in few calls, however many keys are asked for', async () => {
    const { limits } = noLimits
    const few = [{ requests: 20, seconds: 60 }]
    const strict = await openHub(engine.database, { limits: { ...limits, private: few } })
    const { memory } = await strict.agent('tony')
    await memory.batchWrite(
      'long-term',
      Array.from({ length: 1000 }, (_, i) => ({ key: `k${i}`, value: i })),
    )
    const keys = Array.from({ length: 1001 }, (_, i) => `k${1000 - i}`)
    const expected = keys.slice(1).map((key, i) => [key, 999 - i])
    expect([...(await memory.batchRead('long-term', keys))]).toEqual(expected)
  })

  it('is told which entry stands in the way of a write', async () => {
    const { memory } = await hub.agent('barbara')
    await memory.write('episodic', 'kept', 1)
    const refused = (call: Promise<unknown>) =>
      expect(call).rejects.toMatchObject({ code: MemoryErrorCode.CONFLICT, scope: 'episodic', key: 'kept' })
    const again = { key: 'kept', value: 2 }
    await refused(memory.write('episodic', again.key, again.value, { overwrite: false }))
    await refused(
      memory.batchWrite('episodic', [
        { key: 'new', value: 1 },
        { ...again, options: { overwrite: false } },
      ]),
    )
    await refused(memory.atomicUpdate('episodic', [{ operation: 'set', ...again, ifUpdatedAt: 0 }]))
  })

  it('may be searched with its archive beyond a thousand entries', async () => {
    const { memory } = await hub.agent('edsger')
    const episodes = Array.from({ length: 1010 }, (_, i) => ({ key: `e${i}`, value: i }))
    await memory.batchWrite('episodic', episodes)
    const page = (offset: number) =>
      memory.search('episodic', {}, { includeArchived: true, limit: 5, offset, touch: false })
    expect(await page(1003)).toHaveLength(5)
    expect(await page(1008)).toHaveLength(2)
    expect(await page(2000)).toEqual([])
  })

  it('may name any number for what is only compared', async () => {
    expect((await send('remove-all', { updatedBefore: 1e300 })).status).toBe(200)
    expect((await send('touch', { keys: ['k'], now: 8.64e15 })).status).toBe(200)
    expect((await send('remove', { key: 'k' })).status).toBe(200)
  })
})
