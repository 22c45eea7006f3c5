import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, it } from 'vitest'
import { createMemoryManager, type MemoryManagerOptions } from './front/create-memory-manager.ts'
import type { MemoryManager } from './memory-manager.ts'
import { type TraceOptions, traceMemory } from './opentelemetry.ts'
import { createInMemoryStore } from './stores/in-memory-store.ts'

function traced(options: TraceOptions = {}, of: Partial<MemoryManagerOptions> = {}) {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  const memory = createMemoryManager({ stores: createInMemoryStore(), namespace: 'ada', ...of })
  const spans = () => exporter.getFinishedSpans()
  return { memory: traceMemory(memory, { tracer: provider.getTracer('test'), ...options }), spans }
}

it('makes a span of every call, with the attributes of the conventions', async () => {
  const { memory, spans } = traced()
  await memory.write('long-term', 'key', 'private words')
  await memory.search('long-term', { text: 'private' })
  await memory.delete('long-term', 'key')
  await memory.cleanup()
  expect(spans().map(({ name }) => name)).toEqual([
    'upsert_memory',
    'search_memory',
    'delete_memory',
    'cleanup_memory',
  ])
  const [write, search] = spans()
  expect(write?.attributes).toEqual({
    'gen_ai.operation.name': 'upsert_memory',
    'gen_ai.provider.name': 'recall',
    'gen_ai.memory.store.id': 'ada/long-term',
    'gen_ai.memory.record.id': 'key',
    'recall.operation': 'write',
  })
  expect(search?.attributes).toMatchObject({ 'gen_ai.memory.record.count': 1 })
  expect(JSON.stringify(spans().map(({ attributes }) => attributes))).not.toContain('private')
})

it('calls only what deletes all by the name for that', async () => {
  const { memory, spans } = traced()
  await memory.clear('long-term', { tags: ['old'] })
  await memory.cleanup({ dryRun: true })
  await memory.clear('long-term', {})
  await memory.clear('long-term')
  const names = spans().map(({ attributes }) => attributes['gen_ai.operation.name'])
  expect(names).toEqual(['clear_memory', 'cleanup_memory', 'delete_memory', 'delete_memory'])
})

it('refuses an unknown option, without which nothing would be recorded', () => {
  const misspelt = { captureContents: true } as TraceOptions
  expect(() => traced(misspelt)).toThrow('options: Unrecognized key: "captureContents"')
})

it('records queries and what was found only when it is told to', async () => {
  const { memory, spans } = traced({ captureContent: true, server: { address: 'hub.example', port: 443 } })
  await memory.write('long-term', 'key', 'private words')
  await memory.search('long-term', { text: 'private' })
  const [write, search] = spans()
  expect(JSON.stringify(write?.attributes)).not.toContain('private')
  expect(search?.attributes).toMatchObject({
    'gen_ai.memory.query.text': 'private',
    'server.address': 'hub.example',
    'server.port': 443,
  })
  expect(JSON.parse(String(search?.attributes['gen_ai.memory.records']))).toMatchObject([
    { id: 'key', content: 'private words' },
  ])
})

it('records neither secrets nor what is encrypted, also when it is told to record content', async () => {
  const secret = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
  const { memory, spans } = traced(
    { captureContent: true },
    { redact: 'allow', encryptionKey: new Uint8Array(32) },
  )
  await memory.write('long-term', 'token', `the token ${secret}`, { type: `a ${secret}`, tags: [secret] })
  await memory.write('long-term', 'sealed', 'private words', { encrypt: true })
  expect(await memory.search('long-term', { text: `token ${secret}` })).toHaveLength(1)
  expect(await memory.search('long-term', { filters: { encrypted: true } })).toHaveLength(1)
  const attributes = JSON.stringify(spans().map((span) => span.attributes))
  expect(attributes).toContain('the token [redacted:github]')
  expect(attributes).toContain('token [redacted:github]')
  expect(attributes).toContain('a [redacted:github]')
  expect(attributes).toContain('sealed')
  expect(attributes).not.toContain(secret)
  expect(attributes).not.toContain('private')
})

it('marks what failed and throws it on', async () => {
  const { memory, spans } = traced()
  await expect(memory.write('long-term', '', 1)).rejects.toMatchObject({ code: 'MEMORY_INVALID_INPUT' })
  expect(spans()[0]).toMatchObject({
    status: { code: 2 },
    attributes: { 'error.type': 'MEMORY_INVALID_INPUT' },
  })
})

it('wraps a memory that is a class with private fields', async () => {
  const { memory } = traced()
  class Own implements Pick<MemoryManager, 'namespace' | 'close' | 'read'> {
    #closed = false
    readonly namespace = 'own'
    readonly read = memory.read
    async close(): Promise<void> {
      if (this.#closed) throw new Error('closed twice')
      this.#closed = true
    }
  }
  const own = traceMemory(new Own() as unknown as MemoryManager)
  expect(own.namespace).toBe('own')
  await own.close()
  await expect(own.close()).rejects.toThrow('closed twice')
})

it('answers what the memory answers', async () => {
  const { memory } = traced()
  expect(memory.namespace).toBe('ada')
  await memory.batchWrite('long-term', [{ key: 'a', value: 1 }])
  expect(await memory.batchRead('long-term', ['a'])).toEqual(new Map([['a', 1]]))
  await memory.close()
  await expect(memory.read('long-term', 'a')).rejects.toMatchObject({ code: 'MEMORY_CLOSED' })
})
