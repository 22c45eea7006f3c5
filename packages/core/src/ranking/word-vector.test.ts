import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cosineSimilarity } from './cosine.ts'
import { wordVector } from './word-vector.ts'

const near = (a: string, b: string): number =>
  cosineSimilarity([...wordVector(a, 384)], [...wordVector(b, 384)])

it('has the length 1, whatever the text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(Math.hypot(...wordVector(text, 32))).toBeCloseTo(1, 5)
    }),
  )
})

it('is nearer the more words two texts share', () => {
  const pool = 'Пул соединений течёт, когда запрос прерван'
  expect(near(pool, 'когда запрос прерван, течёт пул соединений')).toBeCloseTo(1, 5)
  expect(near(pool, 'Пул соединений течёт при каждом втором запросе')).toBeGreaterThan(0.7)
  expect(near(pool, 'Где течёт пул?')).toBeGreaterThan(0.6)
  expect(near(pool, 'Сборка падает без переменной окружения')).toBeLessThan(0.55)
  expect(near('การเชื่อมต่อรั่วเมื่อคำขอถูกยกเลิก', 'การเชื่อมต่อรั่วทุกครั้งที่คำขอล้มเหลว')).toBeGreaterThan(0.7)
})
