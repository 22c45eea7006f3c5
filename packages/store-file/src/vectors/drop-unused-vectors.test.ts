import { appendFileSync, cpSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { dyingFileSystem, failingFileSystem, ProcessDied } from '../../test/support/faulty-file-system.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { textHash } from '../files/digest.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { dropUnusedVectors } from './drop-unused-vectors.ts'
import { openVectorFile } from './vector-file.ts'
import { readHeader } from './vector-format.ts'

const space = { model: 'm', dimensions: 3 }
const vectorsOf: Record<string, number[]> = {
  one: [1, 0, 0],
  two: [0, 1, 0],
  three: [0, 0, 1],
  four: [0.6, 0.8, 0],
}

/** Texts that are found in a folder, each with what its vector has in common with each axis. */
function found(folder: string): Record<string, number[]> {
  if (!readHeader(defaultFileSystem, join(folder, 'vectors.i8'))) return {}
  const file = openVectorFile(defaultFileSystem, folder, space)
  expect(file.isSound()).toBe(true)
  const axes = [Float32Array.of(1, 0, 0), Float32Array.of(0, 1, 0), Float32Array.of(0, 0, 1)]
  const slots = file.slots()
  return Object.fromEntries(
    Object.keys(vectorsOf).flatMap((text) => {
      const slot = slots.get(textHash(text))
      if (slot === undefined) return []
      return [[text, axes.map((axis) => Math.round((file.exact(axis, [slot])[0] as number) * 10) / 10)]]
    }),
  )
}

/** A folder with the vectors of all texts. */
function withAll(place: string): string {
  const full = join(place, 'full')
  openVectorFile(defaultFileSystem, full, space).append(
    Object.entries(vectorsOf).map(([text, vector]) => ({
      hash: Buffer.from(textHash(text), 'hex'),
      vector: Float32Array.from(vector),
    })),
  )
  return full
}

it('leaves no vector but of texts that are used, and never one text with the vector of another', () => {
  const place = temporaryRoot()
  const full = withAll(place)
  expect(found(full)).toEqual(vectorsOf)
  const { two, four } = vectorsOf
  const after = { two, four }
  const used = new Set(['two', 'four', 'five'].map(textHash))
  const seen = new Set<string>()
  for (let k = 1; ; k++) {
    const folder = join(place, `k${k}`)
    cpSync(full, folder, { recursive: true })
    try {
      dropUnusedVectors(dyingFileSystem(k).fileSystem, folder, used)
      expect(found(folder)).toEqual(after)
      break
    } catch (error) {
      expect((error as Error).cause ?? error).toBeInstanceOf(ProcessDied)
      const left = JSON.stringify(found(folder))
      expect([vectorsOf, {}, after].map((state) => JSON.stringify(state))).toContain(left)
      seen.add(left)
    }
  }
  // It died with all of them there, and with none.
  expect(seen.size).toBeGreaterThanOrEqual(2)
})

it('leaves nothing unfinished on a disk that is full, which would keep it full', () => {
  const place = temporaryRoot()
  const full = withAll(place)
  const used = new Set([textHash('two')])
  for (let k = 1; ; k++) {
    const folder = join(place, `k${k}`)
    cpSync(full, folder, { recursive: true })
    try {
      dropUnusedVectors(failingFileSystem(k, 'ENOSPC').fileSystem, folder, used)
      break
    } catch {
      expect(readdirSync(folder).filter((name) => name.startsWith('.tmp-'))).toEqual([])
    }
  }
})

it.each(['vectors.i8', 'vectors.f32'])(
  'leaves no half row at the end of %s, though all texts are used',
  (name) => {
    const full = withAll(temporaryRoot())
    const path = join(full, name)
    const { size } = statSync(path)
    appendFileSync(path, 'half')
    dropUnusedVectors(defaultFileSystem, full, new Set(Object.keys(vectorsOf).map(textHash)))
    expect(statSync(path).size).toBe(size)
    expect(found(full)).toEqual(vectorsOf)
  },
)
