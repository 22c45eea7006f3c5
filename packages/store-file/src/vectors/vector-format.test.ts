import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem } from '../files/file-system.ts'
import { headerBytes, headerLength, readHeader } from './vector-format.ts'

const read = (bytes: string | Uint8Array) => {
  const path = join(temporaryRoot(), 'vectors.i8')
  writeFileSync(path, bytes)
  return readHeader(defaultFileSystem, path)
}

it('a header is read as it was written, and not without its sum', () => {
  const header = { model: 'm', dimensions: 3, generation: 'g' }
  expect(read(headerBytes(header))).toEqual(header)
  expect(read(JSON.stringify(header).padEnd(headerLength))).toBe(null)
})

it('a header is read whole however long the name of its model is, or refused', () => {
  const of = (length: number) => ({ model: 'x'.repeat(length), dimensions: 3, generation: 'g' })
  const room = headerLength - 1 - headerBytes(of(0)).toString().trimEnd().length
  expect(read(headerBytes(of(room)))).toEqual(of(room))
  expect(() => headerBytes(of(room + 1))).toThrow(
    expect.objectContaining({
      code: MemoryErrorCode.INVALID_INPUT,
      message: expect.stringContaining('too long by 1 bytes'),
    }),
  )
})
