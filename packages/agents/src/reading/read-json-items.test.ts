import fc from 'fast-check'
import { expect, it } from 'vitest'
import { temporaryFile } from '../../test/support.ts'
import { readJsonItems } from './read-json-items.ts'

async function itemsOf(text: string, chunkBytes: number, maxItemBytes = 1_000_000) {
  const found = []
  const path = await temporaryFile('list.json', text)
  for await (const item of readJsonItems(path, { maxItemBytes, chunkBytes })) found.push(item)
  return found
}

it('takes any list apart as JSON does, wherever its chunks end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue({ stringUnit: 'binary' }), { maxLength: 6 }),
      fc.constantFrom(undefined, 1, '\t'),
      fc.integer({ min: 1, max: 50 }),
      async (list, indent, chunkBytes) => {
        const text = JSON.stringify(list, null, indent)
        const items = await itemsOf(text, chunkBytes)
        expect(items.map(({ bytes }) => JSON.parse(String(bytes)))).toEqual(JSON.parse(text))
        for (const [i, { number, start, length, bytes, ended }] of items.entries()) {
          expect([number, ended]).toEqual([i + 1, true])
          expect(Buffer.from(text).subarray(start, start + length)).toEqual(bytes)
        }
      },
    ),
  )
})

it('ends where the list does, whatever stands behind it', async () => {
  for (const behind of ['\n', ', 2]', '[2]'])
    expect((await itemsOf(`[1]${behind}`, 3)).map(({ bytes }) => String(bytes))).toEqual(['1'])
})

it('keeps no item over the cap, and goes on with the next one', async () => {
  const items = await itemsOf(`["${'x'.repeat(100)}", 1]`, 7, 50)
  expect(items.map(({ bytes, length }) => [bytes?.toString() ?? null, length])).toEqual([
    [null, 102],
    ['1', 1],
  ])
})

it.each([['{"a":[1]}'], ['7'], [''], ['"["'], ['x[1]']])(
  'finds nothing in %s, which is no list',
  async (text) => {
    expect(await itemsOf(text, 3)).toEqual([])
  },
)
