import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { defaultFileSystem, overwriteInPlace } from './file-system.ts'

it('writes a note over a longer one, of which nothing stays', () => {
  const path = join(temporaryRoot(), 'note')
  for (const note of ['short', 'a much longer note', 'naïve']) {
    overwriteInPlace(defaultFileSystem, path, note)
    expect(readFileSync(path, 'utf8')).toBe(note)
  }
})
