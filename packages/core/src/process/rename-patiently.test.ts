import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { renamePatiently } from './rename-patiently.ts'

const folder = mkdtempSync(join(tmpdir(), 'recall-rename-'))
afterAll(() => rmSync(folder, { recursive: true }))

function twoFiles(): [from: string, to: string] {
  const names: [string, string] = [join(folder, 'new'), join(folder, 'old')]
  for (const name of names) writeFileSync(name, name)
  return names
}

/** A file that another program holds open for so many milliseconds. */
function held(heldMs: number, code: string) {
  let elapsed = 0
  let tries = 0
  return {
    rename: (from: unknown, to: unknown) => {
      tries++
      if (elapsed < heldMs) throw Object.assign(new Error(code), { code })
      renameSync(from as string, to as string)
    },
    wait: (ms: number) => {
      elapsed += ms
    },
    facts: () => ({ elapsed, tries }),
  }
}

describe('renaming a file', () => {
  it('takes the place of the other', () => {
    const [from, to] = twoFiles()
    renamePatiently(from, to)
    expect(existsSync(from)).toBe(false)
    expect(readFileSync(to, 'utf8')).toBe(from)
  })

  it.each(['EPERM', 'EACCES', 'EBUSY'])('waits on Windows until it is let go: %s', (code) => {
    const [from, to] = twoFiles()
    const { facts, ...surroundings } = held(300, code)
    renamePatiently(from, to, { platform: 'win32', ...surroundings })
    expect(readFileSync(to, 'utf8')).toBe(from)
    expect(facts().elapsed).toBeLessThan(500)
  })

  it('gives up after two seconds, with both files as they were', () => {
    const [from, to] = twoFiles()
    const { facts, ...surroundings } = held(Number.POSITIVE_INFINITY, 'EPERM')
    expect(() => renamePatiently(from, to, { platform: 'win32', ...surroundings })).toThrow('EPERM')
    expect(facts().elapsed).toBeGreaterThanOrEqual(2000)
    expect(facts().elapsed).toBeLessThan(2200)
    expect([from, to].map((name) => readFileSync(name, 'utf8'))).toEqual([from, to])
  })

  it.each([
    ['linux', 'EPERM'],
    ['win32', 'ENOENT'],
  ] as const)('does not wait in vain: %s, %s', (platform, code) => {
    const [from, to] = twoFiles()
    const { facts, ...surroundings } = held(Number.POSITIVE_INFINITY, code)
    expect(() => renamePatiently(from, to, { platform, ...surroundings })).toThrow(code)
    expect(facts()).toEqual({ elapsed: 0, tries: 1 })
  })
})
