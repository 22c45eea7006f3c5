import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import * as z from 'zod/mini'
import { createTicker } from '../conformance/ticker.ts'
import { MemoryError, MemoryErrorCode } from '../errors.ts'
import type { MemoryStore } from '../memory-store.ts'
import { createMemoryCache } from '../protocol/memory-cache.ts'
import type { RedactionReport } from '../redaction/redactor.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import type { MemoryCache } from './cached-read.ts'
import { createMemoryManager } from './create-memory-manager.ts'

function failing(method: keyof MemoryStore, error: unknown): MemoryStore {
  return { ...createInMemoryStore(), [method]: () => Promise.reject(error) }
}

describe('createMemoryManager', () => {
  it('sends each scope to its own store and closes every store once', async () => {
    const working = createInMemoryStore()
    const shared = createInMemoryStore()
    const close = [vi.spyOn(working, 'close'), vi.spyOn(shared, 'close')]
    const memory = createMemoryManager({
      stores: { working, 'short-term': shared, 'long-term': shared, episodic: shared },
    })
    await memory.write('working', 'key', 'w')
    await memory.write('episodic', 'key', 'e')
    expect((await working.stats({ namespace: 'default', scope: 'working' })).entries).toBe(1)
    expect((await working.stats({ namespace: 'default', scope: 'episodic' })).entries).toBe(0)
    await memory.close()
    await memory.close()
    for (const spy of close) expect(spy).toHaveBeenCalledTimes(1)
  })

  it.each<{ cache?: MemoryCache }>([{}, { cache: createMemoryCache() }])(
    'leaves a store open that another memory uses',
    async (caching) => {
      const store = createInMemoryStore()
      const embedder = {
        model: 'm',
        dimensions: 1,
        embed: async () => [new Float32Array([1])],
        close: vi.fn(async () => {}),
      }
      const options = { stores: store, embedder, ...caching }
      const [ada, bob] = [{ namespace: 'ada' }, { namespace: 'bob' }].map((own) =>
        createMemoryManager({ ...options, ...own }),
      )
      await bob?.write('long-term', 'key', 'value')
      await ada?.close()
      await ada?.close()
      expect(embedder.close).not.toHaveBeenCalled()
      expect(await bob?.read('long-term', 'key')).toBe('value')
      await bob?.close()
      expect(embedder.close).toHaveBeenCalledTimes(1)
      const anew = createMemoryManager({ stores: store, namespace: 'bob' })
      expect(await anew.read('long-term', 'key')).toBe(null)
    },
  )

  it('closes what can be closed when something cannot, and says so', async () => {
    const working = failing('close', new Error('the disk is gone'))
    const shared = createInMemoryStore()
    const close = vi.spyOn(shared, 'close')
    const embedder = { model: 'm', dimensions: 1, embed: async () => [], close: vi.fn(async () => {}) }
    const memory = createMemoryManager({
      stores: { working, 'short-term': shared, 'long-term': shared, episodic: shared },
      embedder,
    })
    await expect(memory.close()).rejects.toThrow('the disk is gone')
    expect(close).toHaveBeenCalledTimes(1)
    expect(embedder.close).toHaveBeenCalledTimes(1)
  })

  it('overwrites nothing when leave to do so is given while it writes', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    await memory.write('long-term', 'key', 'before')
    const options = { overwrite: false }
    const written = memory.write('long-term', 'key', 'after', options)
    options.overwrite = true
    await expect(written).rejects.toMatchObject({ code: 'MEMORY_CONFLICT' })
    expect(await memory.read('long-term', 'key')).toBe('before')
  })

  it('keeps what a batch was given, whatever becomes of it while the batch is written', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore(), encryptionKey: new Uint8Array(32) })
    const value = { n: 1 }
    const writes = ['a', 'b', 'c'].map((key) => ({ key, value, options: { encrypt: true } }))
    const written = memory.batchWrite('long-term', writes)
    value.n = 2
    await written
    const kept = await memory.batchRead('long-term', ['a', 'b', 'c'])
    expect([...kept.values()]).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }])
  })

  it('says of which entry of a batch the value cannot be kept', async () => {
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      schemas: { 'long-term': { 'age:*': z.number() } },
    })
    for (const [key, value] of [
      ['born', { at: new Date(0) }],
      ['age:ana', 'forty'],
    ] as const) {
      const wrong = { code: MemoryErrorCode.INVALID_INPUT, scope: 'long-term', key }
      const writes = [
        { key: 'right', value: 1 },
        { key, value },
      ]
      await expect(memory.batchWrite('long-term', writes)).rejects.toMatchObject(wrong)
    }
  })

  it('takes an option that is undefined for one that is not given', async () => {
    const absent = undefined
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      ...{ namespace: absent, embedder: absent, schemas: absent, redact: absent, onRedaction: absent },
      ...{ policies: { defaultTtl: absent, quotas: absent }, encryptionKey: absent, cache: absent },
      clock: absent,
    })
    const found = { tags: absent, type: absent, text: absent, embedding: absent }
    const options = { ttl: absent, overwrite: absent, encrypt: absent, index: absent, ...found }
    await memory.write('short-term', 'key', { type: 'note', says: 'words' }, options)
    await memory.batchWrite('short-term', [{ key: 'other', value: 'others', options: absent }])
    const page = { limit: absent, offset: absent, sortBy: absent, sortOrder: absent, passages: absent }
    const sure = { minScore: absent, minConfidence: absent, touch: absent, explain: absent }
    const query = { text: 'words', filters: absent, embedding: absent, tags: absent }
    const [match] = await memory.search('short-term', query, { ...page, ...sure, includeArchived: absent })
    expect(match).toMatchObject({
      key: 'key',
      metadata: { type: 'note', namespace: 'default', accessCount: 1 },
    })
    expect(match?.metadata.expiresAt).not.toBeNull()
    const plain = { decrypt: absent, includeMetadata: absent, includeArchived: absent }
    expect(await memory.read('short-term', 'other', plain)).toBe('others')
    const cleaned = { scope: absent, dryRun: absent, threshold: absent, archiveBefore: absent }
    expect(await memory.cleanup(cleaned)).toMatchObject({ deleted: 0, errors: [] })
  })

  it('says which key stands in a batch twice, unless that tells a secret', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    const twice = (key: string) => ['first', key, 'other', key].map((each) => ({ key: each, value: 1 }))
    const told = expect.stringContaining("'again' is in the batch more than once")
    const wrong = { code: MemoryErrorCode.INVALID_INPUT, scope: 'working', key: 'again', message: told }
    await expect(memory.batchWrite('working', twice('again'))).rejects.toMatchObject(wrong)
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const error: unknown = await memory.batchWrite('working', twice(secret)).catch((error) => error)
    expect(error).toMatchObject({ code: MemoryErrorCode.INVALID_INPUT })
    expect(inspect(error)).not.toContain(secret)
  })

  it('says that it is the schema which makes of a value what cannot be kept', async () => {
    const at = z.object({ at: z.coerce.date() })
    const memory = createMemoryManager({ stores: createInMemoryStore(), schemas: { working: { '*': at } } })
    const bySchema = "the output of the schema of 'key' cannot be kept: value.at is a Date"
    await expect(memory.write('working', 'key', { at: '2026-01-01' })).rejects.toThrow(bySchema)
    await expect(memory.write('working', 'key', { at: new Date(0) })).rejects.toThrow(/^value.at is a Date/)
  })

  it('keeps no notes of the window but text, so that whoever reads the window reads all of it', async () => {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    const set = { operation: 'set', key: 'EPHEMERAL.md#notes', value: { a: 1 } } as const
    for (const call of [
      memory.write('short-term', set.key, set.value),
      memory.batchWrite('short-term', [{ key: set.key, value: null }]),
      memory.atomicUpdate('short-term', [set]),
    ])
      await expect(call).rejects.toMatchObject({
        code: MemoryErrorCode.INVALID_INPUT,
        message: expect.stringContaining('are text: keep other values under another key'),
      })
    await memory.write('short-term', set.key, 'the harbour')
    await memory.write('long-term', set.key.replace('#', ' '), set.value)
    expect(await memory.read('short-term', set.key)).toBe('the harbour')
  })

  it('checks a value by the longest of the patterns that its key matches', async () => {
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      schemas: { 'long-term': { 'a*': z.number(), 'a:b*': z.string(), 'a:*': z.boolean() } },
    })
    for (const [key, value] of [
      ['a', 1],
      ['a:', true],
      ['a:b:c', 'text'],
      ['b', null],
      ['constructor', null],
    ] as const)
      await memory.write('long-term', key, value)
    await expect(memory.write('long-term', 'a:b', true)).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
    })
  })

  it('tells of a schema that cannot answer at once', async () => {
    const later = z.string().check(z.refine(async () => true))
    const memory = createMemoryManager({ stores: createInMemoryStore(), schemas: { 'long-term': { later } } })
    await expect(memory.write('long-term', 'later', 'text')).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining("the schema of 'later' throws"),
    })
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a promise', Promise.resolve({ success: true, data: 1 })],
    ['a text', 'right'],
    ['a failure without its issues', { success: false }],
    ['a failure with one issue in place of a list', { success: false, error: { issues: 'wrong' } }],
    ['an issue without its path', { success: false, error: { issues: [{ message: 'wrong' }] } }],
    ['neither success nor failure', { success: 'maybe', data: 1 }],
  ])('neither keeps nor gives a value whose schema answers %s', async (_, answer) => {
    const stores = createInMemoryStore()
    await createMemoryManager({ stores }).write('long-term', 'key', 1)
    const schemas = { 'long-term': { '*': { safeParse: () => answer as never } } }
    const memory = createMemoryManager({ stores, schemas })
    for (const call of [memory.write('long-term', 'new', 1), memory.read('long-term', 'key')])
      await expect(call).rejects.toMatchObject({
        code: MemoryErrorCode.INVALID_INPUT,
        message: expect.stringMatching(
          /^the schema of '(new|key)' answers neither .* must not be asynchronous/,
        ),
      })
    expect(await createMemoryManager({ stores }).read('long-term', 'new')).toBeNull()
  })

  it('keeps nothing that a schema makes of a value and then does not take', async () => {
    const length = z.pipe(
      z.string(),
      z.transform((text: string) => text.length),
    )
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      schemas: { 'long-term': { length } },
    })
    await expect(memory.write('long-term', 'length', 'abc' as never)).rejects.toMatchObject({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining('once the schema has changed it'),
    })
    expect(await memory.search('long-term', {})).toEqual([])
  })

  it.each([
    ['put', MemoryErrorCode.WRITE_FAILED, 'write'],
    ['get', MemoryErrorCode.SEARCH_FAILED, 'read'],
    ['find', MemoryErrorCode.SEARCH_FAILED, 'search'],
    ['removeAll', MemoryErrorCode.WRITE_FAILED, 'clear'],
    ['remove', MemoryErrorCode.WRITE_FAILED, 'delete'],
    ['commit', MemoryErrorCode.WRITE_FAILED, 'batchWrite'],
  ] as const)('gives a failure of %s a code, the scope and its cause', async (method, code, call) => {
    const cause = new Error('disk full')
    const memory = createMemoryManager({ stores: failing(method, cause) })
    const calls = {
      write: () => memory.write('long-term', 'key', 1),
      read: () => memory.read('long-term', 'key'),
      search: () => memory.search('long-term', {}),
      clear: () => memory.clear('long-term'),
      delete: () => memory.delete('long-term', 'key'),
      batchWrite: () => memory.batchWrite('long-term', [{ key: 'key', value: 1 }]),
    }
    await expect(calls[call]()).rejects.toMatchObject({
      code,
      scope: 'long-term',
      cause,
      message: 'disk full',
    })
  })

  it("lets a store's own MemoryError through", async () => {
    const error = new MemoryError('the disk is gone', MemoryErrorCode.UNAVAILABLE)
    const memory = createMemoryManager({ stores: failing('put', error) })
    await expect(memory.write('long-term', 'key', 1)).rejects.toBe(error)
  })

  it('goes on cleaning where one scope fails, and says which', async () => {
    const sound = createInMemoryStore()
    const memory = createMemoryManager({
      stores: {
        working: failing('sweep', new Error('locked')),
        'short-term': sound,
        'long-term': sound,
        episodic: sound,
      },
      clock: createTicker().clock,
    })
    const result = await memory.cleanup()
    expect(result.errors).toMatchObject([{ scope: 'working', message: 'locked' }])
  })

  it('takes other default lifetimes', async () => {
    const { clock, advance } = createTicker()
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      clock,
      policies: { defaultTtl: { working: 1000, 'short-term': Number.POSITIVE_INFINITY } },
    })
    await memory.write('working', 'key', 1)
    await memory.write('short-term', 'key', 1)
    advance(1e12)
    expect(await memory.exists('working', 'key')).toBe(false)
    expect(await memory.exists('short-term', 'key')).toBe(true)
  })

  it('tells what was redacted without telling the secret', async () => {
    const reports: RedactionReport[] = []
    const memory = createMemoryManager({
      stores: createInMemoryStore(),
      onRedaction: (report) => reports.push(report),
    })
    await memory.write('long-term', 'login', { password: 'hunter2hunter2' })
    await memory.write('long-term', 'clean', 'nothing to hide')
    expect(reports).toEqual([{ scope: 'long-term', key: 'login', counts: { password: 1 } }])
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no room in the log')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no room in the log'))],
  ])('writes also where who is told what was redacted %s', async (_, onRedaction) => {
    const memory = createMemoryManager({ stores: createInMemoryStore(), onRedaction })
    await memory.write('long-term', 'login', { password: 'hunter2hunter2' })
    expect(await memory.read('long-term', 'login')).toEqual({ password: '[redacted:password]' })
  })

  it.each([
    ['no stores', { stores: undefined }, /^stores: there is no store for working; give one/],
    ['stores for some scopes', { stores: { working: createInMemoryStore() } }, /no store for short-term/],
    ['a store that is still being opened', { stores: Promise.resolve() }, /opened already/],
    ['a store that was not made', { stores: createInMemoryStore }, /createInMemoryStore\(\)/],
    [
      'a policy for secrets that does not exist',
      { redact: 'rejct' },
      /^options.redact: .*"redact"\|"reject"\|"allow"/,
    ],
    ['what is no clock', { clock: 5 }, /^options.clock: must be a function/],
    ['what is no embedder', { embedder: {} }, /^options.embedder: must be an embedder/],
    ['what is no cache', { cache: {} }, /^options.cache: must be a cache/],
    ['what is told nothing', { onRedaction: 'log' }, /^options.onRedaction: must be a function/],
    ['schemas of a scope that does not exist', { schemas: { longterm: {} } }, /^options.schemas.*longterm/],
    [
      'a ring without keys',
      { encryptionKey: { current: 'spring' } },
      /^encryptionKey: a ring has keys by name/,
    ],
    [
      'something else for a schema',
      { schemas: { working: { goal: {} } } },
      /^options.schemas.working.goal: .*safeParse/,
    ],
  ])('refuses %s and says what is wrong', (_, options, message) => {
    const open = (): unknown => createMemoryManager({ stores: createInMemoryStore(), ...options } as never)
    expect(open).toThrow(expect.objectContaining({ code: MemoryErrorCode.INVALID_INPUT }))
    expect(open).toThrow(message)
  })

  it('refuses a namespace that is no key', () => {
    expect(() => createMemoryManager({ stores: createInMemoryStore(), namespace: '' })).toThrow('namespace')
  })
})

it('is closed when it is closed again meanwhile', async () => {
  const sound = createInMemoryStore()
  const order: string[] = []
  let answer = (): void => {}
  const stores: MemoryStore = {
    ...sound,
    put: () =>
      new Promise((resolve) => {
        answer = resolve
      }),
    async close() {
      order.push('store')
      throw new Error('away')
    },
  }
  const memory = createMemoryManager({ stores })
  const written = memory.write('long-term', 'key', 1)
  await new Promise((resolve) => setImmediate(resolve))
  const first = memory.close().catch((error: Error) => order.push(error.message))
  const second = memory.close().then(() => order.push('again'))
  await new Promise((resolve) => setImmediate(resolve))
  answer()
  await Promise.all([written, first, second])
  expect(order[0]).toBe('store')
  expect(order.sort()).toEqual(['again', 'away', 'store'])
})
