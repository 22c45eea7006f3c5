import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openReceipt, type ReceiptFile } from './receipt.ts'

function temporaryState(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-receipt-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

it('keeps the backup of each file, whichever others come and go', () => {
  const receipt = openReceipt(temporaryState())
  const backupOf = (file: string): string | undefined =>
    receipt.originalOf(receipt.find(file) as ReceiptFile)?.toString()
  for (const file of ['/a', '/b', '/c'])
    receipt.note(file, { original: Buffer.from(`bytes of ${file}`), before: null, after: 'ours' })
  receipt.done('/a')
  receipt.note('/d', { original: Buffer.from('bytes of /d'), before: null, after: 'ours' })
  receipt.note('/a', { original: Buffer.from('later bytes of /a'), before: null, after: 'ours' })
  expect(['/b', '/c', '/d', '/a'].map(backupOf)).toEqual([
    'bytes of /b',
    'bytes of /c',
    'bytes of /d',
    'later bytes of /a',
  ])
})

it('keeps one backup of a file, as often as it is noted, and none of one that is done', () => {
  const folder = temporaryState()
  const receipt = openReceipt(folder)
  receipt.note('/a', { original: Buffer.from('before'), before: null, after: 'ours' })
  receipt.note('/a', { original: Buffer.from('before'), before: null, after: 'ours, anew' })
  expect(readdirSync(folder).sort()).toEqual(['original-1', 'receipt.json'])
  receipt.done('/a')
  expect(readdirSync(folder)).toEqual(['receipt.json'])
})

it.each(['{"version":1', '{"version":2,"folders":[],"files":[]}', '{"version":1,"folders":[],"files":[{}]}'])(
  'goes on with no record that it cannot read, and leaves it as it is: %s',
  (text) => {
    const folder = temporaryState()
    const path = join(folder, 'receipt.json')
    writeFileSync(path, text)
    expect(() => openReceipt(folder)).toThrow(
      expect.objectContaining({ code: 'MEMORY_CORRUPTION', details: { path } }),
    )
    expect(readFileSync(path, 'utf8')).toBe(text)
  },
)
