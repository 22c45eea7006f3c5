import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { defaultFileSystem } from './file-system.ts'
import { ensureFolder } from './folders.ts'

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-folders-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const refusal = (code: string) => Object.assign(new Error(`${code}: no folder`), { code })

it('says why a folder cannot be created, at the outermost level that is missing', () => {
  const asked: string[] = []
  const mkdir = (path: string) => {
    asked.push(path)
    throw refusal('EROFS')
  }
  const root = newFolder()
  const fileSystem = { ...defaultFileSystem, mkdirSync: mkdir as typeof mkdirSync }
  expect(() => ensureFolder(fileSystem, join(root, 'a/b'))).toThrow('EROFS')
  expect(asked).toEqual([join(root, 'a')])
})

it('takes a folder that another process has just created', () => {
  const mkdir = (path: string) => {
    mkdirSync(path)
    throw refusal('EEXIST')
  }
  const folder = join(newFolder(), 'a/b')
  ensureFolder({ ...defaultFileSystem, mkdirSync: mkdir as typeof mkdirSync }, folder)
  expect(defaultFileSystem.existsSync(folder)).toBe(true)
})
