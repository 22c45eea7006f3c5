import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { thisProcess } from '@recall/core/process'
import { layouts } from '@recall/store-file'
import { expect, it } from 'vitest'
import {
  takeArchivingLock,
  takeAway,
  withNobodyArchiving,
  withNotesLocked,
  withReceiptsLocked,
} from '../src/hosts/lock-files.ts'
import { temporaryFolder } from './support.ts'

const newPlace = () => {
  const place = { root: temporaryFolder(), layout: layouts.entity }
  return { place, path: join(place.root, place.layout.internal, 'archiving.lock') }
}
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

it('is held by one at a time, and free once it is released or deleted', () => {
  const { place, path } = newPlace()
  const lock = takeArchivingLock(place)
  expect(takeArchivingLock(place)).toBeUndefined()
  rmSync(path)
  lock?.renew()
  lock?.release()
  expect(takeArchivingLock(place)).toBeDefined()
})

it('is left to another process that has taken it meanwhile', () => {
  const { place, path } = newPlace()
  const lock = takeArchivingLock(place)
  const other = JSON.stringify({ ...thisProcess(), pid: process.ppid })
  writeFileSync(path, other)
  lock?.release()
  takeAway(path, 'what a process that was killed left')
  expect(readFileSync(path, 'utf8')).toBe(other)
  takeAway(path, other)
  takeAway(path, other)
  expect(readdirSync(join(path, '..'))).toEqual([])
})

it('is not taken from a holder that is at work, however long that lasts', () => {
  const { place, path } = newPlace()
  const lock = takeArchivingLock(place)
  utimesSync(path, minutesAgo(9), minutesAgo(9))
  lock?.renew()
  expect(Date.now() - statSync(path).mtimeMs).toBeLessThan(60_000)
  expect(takeArchivingLock(place)).toBeUndefined()
})

it('is taken from a holder that hangs, that was killed, or that left no name', () => {
  const { place, path } = newPlace()
  takeArchivingLock(place)
  utimesSync(path, minutesAgo(11), minutesAgo(11))
  expect(takeArchivingLock(place)).toBeDefined()

  const { pid } = spawnSync(process.execPath, ['-e', ''])
  writeFileSync(path, JSON.stringify({ ...thisProcess(), pid }))
  expect(takeArchivingLock(place)).toBeDefined()

  writeFileSync(path, '')
  expect(takeArchivingLock(place)).toBeUndefined()
  utimesSync(path, minutesAgo(1), minutesAgo(1))
  expect(takeArchivingLock(place)).toBeDefined()
})

it('lets one at a time write notes, and keeps nobody waiting for long', () => {
  const { place } = newPlace()
  const path = join(place.root, place.layout.internal, 'lock-sessions')
  const order: string[] = []
  withNotesLocked(place, () => {
    expect(existsSync(path)).toBe(true)
    withNotesLocked(place, () => order.push('goes on without it'), 20)
    order.push('holder')
  })
  expect(order).toEqual(['goes on without it', 'holder'])
  expect(existsSync(path)).toBe(false)
})

it('deletes nothing while somebody archives', () => {
  const { place, path } = newPlace()
  const deleted: string[] = []
  const remove = () => withNobodyArchiving(place, () => deleted.push(place.root), 20)
  remove()
  const archiver = takeArchivingLock(place)
  expect(remove).toThrow(/is just being archived into/)
  archiver?.release()
  remove()
  expect(deleted).toEqual([place.root, place.root])
  expect(existsSync(path)).toBe(false)
})

it('makes no folder where nobody archives', () => {
  const { place } = newPlace()
  expect(withNobodyArchiving(place, () => 'deleted')).toBe('deleted')
  expect(existsSync(join(place.root, 'memory'))).toBe(false)
})

it('lets one at a time change the settings of hosts', () => {
  const state = temporaryFolder()
  withReceiptsLocked(state, () => {
    const second = () => withReceiptsLocked(state, () => {}, 20)
    expect(second).toThrow('just being wired into agents, or taken out of them: run the same again')
  })
  expect(withReceiptsLocked(state, () => 'free')).toBe('free')
})

it.runIf(existsSync('/proc/self'))('says which folder cannot be written', () => {
  expect(() => withReceiptsLocked('/proc/self', () => {})).toThrow(
    /^\/proc\/self cannot be written \(E[A-Z]+\): check that this user may write there/,
  )
})
