import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import wabt from 'wabt'
import { createScan, scanProgram } from './scan.ts'
import { Memory } from './web-assembly.ts'

it('is the assembled source', async () => {
  const source = readFileSync(new URL('./scan.wat', import.meta.url), 'utf8')
  const { parseWat } = await wabt()
  const { buffer } = parseWat('scan.wat', source, { simd: true }).toBinary({})
  expect(Buffer.from(buffer).toString('base64')).toBe(scanProgram())
})

it('multiplies rows that lie anywhere', () => {
  const memory = new Memory({ initial: 1 })
  const rows = new Int8Array(memory.buffer)
  const query = new Int16Array(memory.buffer, 0, 32)
  query.forEach((_, i) => {
    query[i] = (i - 16) * 2000
  })
  const [first, stride, slots, out] = [103, 37, 512, 1024]
  for (let row = 0; row < 3; row++) {
    for (let i = 0; i < 32; i++) rows[first + row * stride + i] = ((i * 7 + row * 31) % 255) - 127
  }
  new Int32Array(memory.buffer, slots, 4).set([2, 0, 1, 2])
  createScan(memory).multiply(0, first, 3, slots, 4, stride, 32, out)
  const expected = [2, 0, 1, 2].map((row) =>
    query.reduce((sum, value, i) => sum + value * (rows[first + row * stride + i] as number), 0),
  )
  expect([...new Int32Array(memory.buffer, out, 4)]).toEqual(expected)
})
