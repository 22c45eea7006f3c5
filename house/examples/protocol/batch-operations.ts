import { createInMemoryStore, createMemoryManager, isMemoryError } from '@recall/core'

const memory = createMemoryManager({ stores: createInMemoryStore() })

await Promise.all([1, 2, 3].map((n) => memory.write('working', `step${n}`, n)))

await memory.atomicUpdate('working', [
  { operation: 'set', key: 'sum', value: 6 },
  { operation: 'delete', key: 'step1' },
])
console.log(await memory.batchRead('working', ['step1', 'step2', 'sum'])) // Map(2) { 'step2' => 2, 'sum' => 6 }

const seen = await memory.read<number>('working', 'sum', { includeMetadata: true })
const ifUpdatedAt = seen?.metadata.updatedAt ?? 0
await memory.atomicUpdate('working', [{ operation: 'set', key: 'sum', value: 7, ifUpdatedAt }])
try {
  await memory.atomicUpdate('working', [{ operation: 'set', key: 'sum', value: 8, ifUpdatedAt }])
} catch (error) {
  console.log(isMemoryError(error) && error.code) // MEMORY_CONFLICT
}
