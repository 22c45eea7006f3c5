import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { defaultFileSystem } from '../files/file-system.ts'
import { createMeaningArm, manyUnits } from './meaning-arm.ts'
import { openVectorFile, type VectorFile } from './vector-file.ts'

const dimensions = 64
const clusters = 200

/** Clustered, as texts are: vectors of pure chance are all equally far from each other. */
function vectorOf(seed: number): Float32Array {
  const middle = seed % clusters
  const vector = Float32Array.from(
    { length: dimensions },
    (_, i) => Math.sin(middle * 12.9898 + i * 78.233) + 0.7 * Math.sin(seed * 3.7 + i * (1.3 + (seed % 11))),
  )
  const length = Math.hypot(...vector)
  return vector.map((value) => value / length)
}

const count = manyUnits + 1000
const vectors = Array.from({ length: count }, (_, i) => vectorOf(i))
/** Units have ids of their own, and not the order of the slots. */
const units = Int32Array.from(vectors, (_, i) => 10 + 3 * i)
const slots = Int32Array.from(vectors, (_, i) => (i * 7919) % count)

let folder = ''
let file: VectorFile
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recall-arm-'))
  file = openVectorFile(defaultFileSystem, folder, { model: 'm', dimensions })
  const hash = (i: number): Uint8Array => Buffer.from(i.toString(16).padStart(32, '0'), 'hex')
  file.append(vectors.map((vector, i) => ({ hash: hash(i), vector })))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const arm = (query: Float32Array, of = count) => {
  const places = { units: units.subarray(0, of), slots: slots.subarray(0, of) }
  return createMeaningArm(file, { ...places, similarities: new Float32Array(of) }, query)
}

const cosines = (query: Float32Array, of = count): number[] =>
  Array.from(slots.subarray(0, of), (slot) =>
    (vectors[slot] as Float32Array).reduce((sum, value, i) => sum + value * (query[i] as number), 0),
  )

const nearestOf = (similarities: readonly number[], wanted: number): number[] =>
  [...similarities.keys()]
    .sort((a, b) => (similarities[b] as number) - (similarities[a] as number))
    .slice(0, wanted)
    .map((at) => units[at] as number)

describe('among so many units that they are told apart by sketches first', () => {
  it('finds the nearest', () => {
    for (let i = 0; i < 20; i++) {
      const query = vectorOf(1_000_000 + i * 37)
      expect(arm(query).nearest(10)).toEqual(nearestOf(cosines(query), 10))
    }
  })

  it('finds as many as are wanted', () => {
    const query = vectorOf(1_000_003)
    const asked = arm(query)
    expect(asked.nearest(64)).toHaveLength(64)
    const most = asked.nearest(count)
    const { mean, deviation } = asked.spread
    const expected = cosines(query).filter((cosine) => cosine >= mean + 1.5 * deviation).length
    expect(Math.abs(most.length - expected)).toBeLessThanOrEqual(expected / 50)
    expect(most.slice(0, 10)).toEqual(asked.nearest(10))
  })

  it('knows how similar any unit is, whether or not it is near', () => {
    const query = vectorOf(1_000_005)
    const all = cosines(query)
    const asked = arm(query)
    for (let at = 0; at < count; at += 501)
      expect(asked.similarity(units[at] as number)).toBeCloseTo(all[at] as number, 1.9)
    expect(asked.similarity(11)).toBeUndefined()
  })

  it('tells from a sample how similarities are spread', () => {
    const query = vectorOf(1_000_007)
    const all = cosines(query)
    const mean = all.reduce((sum, value) => sum + value, 0) / count
    const variance = all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count
    const { spread } = arm(query)
    expect(Math.abs(spread.mean - mean)).toBeLessThan(Math.sqrt(variance) / 10)
    expect(spread.deviation / Math.sqrt(variance)).toBeCloseTo(1, 1)
  })
})

it('looks at each of a few units', () => {
  const query = vectorOf(1_000_009)
  const all = cosines(query, 300)
  expect(arm(query, 300).nearest(10)).toEqual(nearestOf(all, 10))
})
