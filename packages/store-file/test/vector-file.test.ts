import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openVectorFile } from '../src/vectors/vector-file.ts'
import { temporaryRoot } from './support/temporary-root.ts'

describe('the vector file', () => {
  it('tells how near each vector is, roughly and exactly', () => {
    const folder = join(temporaryRoot(), 'v')
    const dimensions = 40
    const unit = (seed: number): Float32Array => {
      // Clustered, as texts are: random vectors are all equally far from each other.
      const vector = Float32Array.from(
        { length: dimensions },
        (_, i) => Math.sin((seed % 7) * 12.9898 + i * 78.233) + 0.3 * Math.sin(seed * 3.7 + i * 1.3),
      )
      const length = Math.hypot(...vector)
      return vector.map((value) => value / length)
    }
    const vectors = Array.from({ length: 500 }, (_, i) => unit(i))
    const file = openVectorFile(defaultFileSystem, folder, { model: 'm', dimensions })
    const hash = (i: number): Uint8Array => Buffer.from(i.toString(16).padStart(32, '0'), 'hex')
    expect(file.append(vectors.map((vector, i) => ({ hash: hash(i), vector })))).toEqual(
      vectors.map((_, i) => i),
    )
    const query = unit(1234)
    const dot = (vector: Float32Array): number =>
      vector.reduce((sum, value, i) => sum + value * (query[i] as number), 0)
    const near = file.ask(query).similarities(Int32Array.from(vectors, (_, slot) => slot))
    const exact = file.exact(
      query,
      vectors.map((_, i) => i),
    )
    vectors.forEach((vector, i) => {
      expect(near[i]).toBeCloseTo(dot(vector), 1.9)
      expect(exact[i]).toBeCloseTo(dot(vector), 5)
    })
    expect(openVectorFile(defaultFileSystem, folder, { model: 'm', dimensions }).slots()).toEqual(
      file.slots(),
    )
    expect(existsSync(join(folder, 'vectors.f32'))).toBe(true)
  })
})
