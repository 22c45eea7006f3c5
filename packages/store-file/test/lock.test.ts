import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { defaultFileSystem, type FileSystem } from '../src/files/file-system.ts'
import { createLock } from '../src/lock.ts'
import { loadSqlite } from '../src/sqlite/driver.ts'
import { bundleScript, startChild } from './support/child-process.ts'
import { isPosix } from './support/platform.ts'
import { sqliteFailure } from './support/sqlite-failure.ts'
import { temporaryRoot } from './support/temporary-root.ts'

async function openLock(folder: string, timeoutMs?: number) {
  const lock = createLock(defaultFileSystem, await loadSqlite(), folder, timeoutMs)
  onTestFinished(() => lock.close())
  return lock
}

const noStatement = () => expect.unreachable('a lock holds nothing')

describe('the lock', () => {
  it('names the living process that holds it, and is free at once when that is killed', async () => {
    const folder = temporaryRoot()
    const holder = startChild(await bundleScript('lock-child.ts'), [folder])
    expect(await holder.message()).toBe('held')
    const lock = await openLock(folder, 200)
    try {
      lock.hold(() => expect.unreachable('two holders'))
    } catch (error) {
      expect(isMemoryError(error, 'MEMORY_TIMEOUT'), String(error)).toBe(true)
      expect(String(error)).toContain(`process ${holder.process.pid}`)
    }
    holder.process.kill('SIGKILL')
    await holder.ended
    expect((await openLock(folder, 0)).hold(() => 'mine')).toBe('mine')
  })

  it('may be taken again by who holds it, and is let go when the section fails', async () => {
    const folder = temporaryRoot()
    const [lock, other] = [await openLock(folder), await openLock(folder, 50)]
    expect(lock.hold(() => lock.hold(() => 'inner'))).toBe('inner')
    expect(() =>
      lock.hold(() => {
        throw new Error('failed')
      }),
    ).toThrow('failed') // prettier-ignore
    expect(other.hold(() => 'free')).toBe('free')
  })

  it('writes nothing but its holder when it is taken, as the disk may be full', async () => {
    const folder = temporaryRoot()
    const [one, other] = [await openLock(folder), await openLock(folder)]
    for (const lock of [one, other, one])
      expect(lock.hold(() => readdirSync(folder).sort())).toEqual([
        '.gitignore',
        'lock-holder.json',
        'lock.db',
      ])
  })

  it('names who holds it also where another has held it since', async () => {
    const folder = temporaryRoot()
    const lock = await openLock(folder)
    const note = join(folder, 'lock-holder.json')
    const mine = lock.hold(() => JSON.parse(readFileSync(note, 'utf8')))
    writeFileSync(note, '{"pid":4711,"since":"2026-11-27T10:00:00.000Z"}')
    expect(lock.hold(() => JSON.parse(readFileSync(note, 'utf8')))).toMatchObject({ pid: mine.pid })
  })

  it('is taken also where no file can be put beside it', async () => {
    const openSync: FileSystem['openSync'] = (path, ...rest) => {
      if (!String(path).endsWith('.db'))
        throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
      return defaultFileSystem.openSync(path, ...rest)
    }
    const folder = temporaryRoot()
    const lock = createLock({ ...defaultFileSystem, openSync }, await loadSqlite(), folder)
    expect(lock.hold(() => readdirSync(folder))).toEqual(['lock.db'])
  })

  it('leaves the file alone when it cannot be locked for a reason that is none of its own', async () => {
    const folder = temporaryRoot()
    const open = await loadSqlite()
    const refusing = createLock(
      defaultFileSystem,
      (path) => {
        const database = open(path)
        onTestFinished(() => database.close())
        const exec = (sql: string): void => {
          if (sql.startsWith('BEGIN')) throw sqliteFailure('attempt to write a readonly database', 8)
          database.exec(sql)
        }
        return { ...database, exec, prepare: noStatement, function: noStatement, close() {} }
      },
      folder,
    )
    expect(() => refusing.hold(() => expect.unreachable('not locked'))).toThrow(
      expect.objectContaining({ code: MemoryErrorCode.WRITE_FAILED }),
    )
    expect(statSync(join(folder, 'lock.db')).size).toBeGreaterThan(0)
  })

  it('waits also where the first to take it was killed before it wrote down anything', async () => {
    const folder = temporaryRoot()
    const held = (await loadSqlite())(join(folder, 'lock.db'))
    onTestFinished(() => held.close())
    held.exec('BEGIN IMMEDIATE')
    const lock = await openLock(folder, 0)
    expect(() => lock.hold(() => expect.unreachable('two holders'))).toThrow('its process is unknown')
  })

  it('is not waited for longer than whoever asks for it has patience', async () => {
    const folder = temporaryRoot()
    const held = (await loadSqlite())(join(folder, 'lock.db'))
    onTestFinished(() => held.close())
    held.exec('BEGIN IMMEDIATE')
    const lock = await openLock(folder)
    expect(() => lock.hold(() => expect.unreachable('two holders'), 0)).toThrow('for 0 s')
  })

  it('is waited for while it goes from one to the other, and not once one keeps it', () => {
    const folder = temporaryRoot()
    for (const name of ['lock.db', 'lock-turn.db']) writeFileSync(join(folder, name), 'a page')
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => clock.mockRestore())
    /** A lock that the second holder, who comes at 1.2 s, lets go at a time. */
    const lockFreeAt = (free: number) => {
      now = 0
      return createLock(
        defaultFileSystem,
        (path) => ({
          exec: path.endsWith('lock.db') ? begin : () => {},
          prepare: noStatement,
          function() {},
          close() {},
        }),
        folder,
        1000,
      )
      function begin(statement: string): void {
        if (statement !== 'BEGIN IMMEDIATE') return
        now += 400
        const note = JSON.stringify({ pid: now < 1200 ? 1 : 2, since: 'today' })
        writeFileSync(join(folder, 'lock-holder.json'), note)
        if (now < free) throw Object.assign(new Error('locked'), { errcode: 5 })
      }
    }
    expect(lockFreeAt(2800).hold(() => 'mine')).toBe('mine')
    expect(() => lockFreeAt(9000).hold(() => 'mine')).toThrow('process 2, since today')
    expect(now).toBe(3200)
  })

  it('lets those first who wait, once it was taken again and again, unless they hang', () => {
    const folder = temporaryRoot()
    const turnPath = join(folder, 'lock-turn.db')
    writeFileSync(join(folder, 'lock.db'), 'a page')
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => clock.mockRestore())
    let isHanging = false
    const begun: string[] = []
    const lock = createLock(
      defaultFileSystem,
      (path) => ({
        exec(statement) {
          if (statement !== 'BEGIN IMMEDIATE') return
          begun.push(basename(path))
          now += isHanging ? 40 : 1
          if (isHanging && path === turnPath) throw Object.assign(new Error('locked'), { errcode: 5 })
        },
        prepare: noStatement,
        function() {},
        close() {},
      }),
      folder,
    )
    const takenAfter = (milliseconds: number): string[] => {
      now += milliseconds
      begun.length = 0
      lock.hold(() => {})
      return begun
    }
    for (let i = 0; i < 10; i++) expect(takenAfter(2)).toEqual(['lock.db'])
    writeFileSync(turnPath, 'a page')
    expect(takenAfter(2)).toEqual(['lock-turn.db', 'lock.db'])
    expect(takenAfter(2)).toEqual(['lock.db'])
    expect(takenAfter(10)).toEqual(['lock.db'])
    while (takenAfter(2)[0] !== 'lock-turn.db') {}
    takenAfter(4)
    isHanging = true
    expect(takenAfter(4)).toEqual([...Array(3).fill('lock-turn.db'), 'lock.db'])
  })

  it('says every second anew who holds it, so that who takes it often is not taken for one who hangs', async () => {
    const folder = temporaryRoot()
    vi.useFakeTimers({ toFake: ['Date', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const lock = await openLock(folder)
    const noteAfter = (milliseconds: number): string => {
      vi.advanceTimersByTime(milliseconds)
      return lock.hold(() => readFileSync(join(folder, 'lock-holder.json'), 'utf8'))
    }
    const first = noteAfter(0)
    expect(noteAfter(900)).toBe(first)
    expect(noteAfter(200)).not.toBe(first)
  })

  it('is taken in turn, and the turn goes on to the next', async () => {
    const folder = temporaryRoot()
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 5
      return now
    })
    onTestFinished(() => clock.mockRestore())
    const lock = await openLock(folder)
    const turn = (await loadSqlite())(join(folder, 'lock-turn.db'))
    onTestFinished(() => turn.close())
    turn.exec('PRAGMA busy_timeout = 0; PRAGMA user_version = 1')
    /** Takes it twice in a row: the second time, others have to be let first. */
    const takeAgain = (section: () => void): void => {
      now += 100
      lock.hold(() => {})
      lock.hold(section)
    }
    takeAgain(() => turn.exec('BEGIN IMMEDIATE; ROLLBACK'))
    turn.exec('BEGIN IMMEDIATE')
    let taken = 0
    takeAgain(() => taken++)
    expect(taken).toBe(1)
  })

  it('lets go of its files when it is closed, also of that of the turn', () => {
    const folder = temporaryRoot()
    for (const name of ['lock.db', 'lock-turn.db']) writeFileSync(join(folder, name), 'a page')
    let open = 0
    let isHeld = true
    const exec = (statement: string): void => {
      if (statement !== 'BEGIN IMMEDIATE' || !isHeld) return
      isHeld = false
      throw Object.assign(new Error('locked'), { errcode: 5 })
    }
    const openDatabase = () => {
      open++
      return { exec, prepare: noStatement, function() {}, close: () => void open-- }
    }
    const lock = createLock(defaultFileSystem, openDatabase, folder)
    lock.hold(() => expect(open).toBe(2))
    lock.close()
    expect(open).toBe(0)
  })

  it('is taken also where its turn cannot be kept', async () => {
    const folder = temporaryRoot()
    mkdirSync(join(folder, 'lock-turn.db'))
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => clock.mockRestore())
    const lock = await openLock(folder)
    for (; now < 40; now += 4) expect(lock.hold(() => 'mine')).toBe('mine')
  })

  it.each([...(isPosix ? ['deleted'] : []), 'overwritten with rubbish'])(
    'keeps others out although its file was %s meanwhile',
    async (what) => {
      const folder = temporaryRoot()
      const [one, other, late] = [
        await openLock(folder),
        await openLock(folder, 50),
        await openLock(folder, 50),
      ]
      one.hold(() => {})
      other.hold(() => {})
      if (what === 'deleted') rmSync(join(folder, 'lock.db'))
      else writeFileSync(join(folder, 'lock.db'), 'rubbish '.repeat(1000))
      one.hold(() => {
        for (const each of [other, late]) expect(() => each.hold(() => 'both')).toThrow('held the lock')
      })
      expect(other.hold(() => 'free')).toBe('free')
    },
  )
})
