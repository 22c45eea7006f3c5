import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readReceipts } from '../memory/receipts.ts'
import { createForHosts } from './memory-receipt.ts'

function places() {
  const folder = mkdtempSync(join(tmpdir(), 'recall-receipts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return { state: join(folder, 'state'), root: join(folder, 'root') }
}

const memoryAt = (root: string) => ({
  created: [{ path: 'memory/MEMORY.md', digest: 'd' }],
  kept: [],
  folders: [root, join(root, 'memory')],
})

it('knows what was made of a memory whose creation broke off', () => {
  const { state, root } = places()
  const breakOff = (isDry: boolean) => {
    if (isDry) return memoryAt(root)
    mkdirSync(join(root, 'memory'), { recursive: true })
    writeFileSync(join(root, 'memory/MEMORY.md'), '')
    throw new Error('the disk is full')
  }
  expect(() => createForHosts(state, root, breakOff)).toThrow('the disk is full')
  const { created, folders } = memoryAt(root)
  expect(readReceipts(state)).toEqual([{ root, files: created, folders }])
})

it('knows of no memory of which nothing could be made', () => {
  const { state, root } = places()
  const refuse = (isDry: boolean) => {
    if (isDry) return memoryAt(root)
    throw new Error('permission denied')
  }
  expect(() => createForHosts(state, root, refuse)).toThrow('permission denied')
  expect(readReceipts(state)).toEqual([])
  createForHosts(state, '/elsewhere', () => memoryAt('/elsewhere'))
  expect(() => createForHosts(state, root, refuse)).toThrow('permission denied')
  expect(readReceipts(state).map((receipt) => receipt.root)).toEqual(['/elsewhere'])
  expect(existsSync(root)).toBe(false)
})
