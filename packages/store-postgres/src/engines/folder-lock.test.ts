import fs, { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { lockFolder } from './folder-lock.ts'

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-postgres-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

describe('the lock of a folder', () => {
  it('lets one in, and the next when that one has let go', () => {
    const folder = temporaryFolder()
    const first = lockFolder(folder)
    expect(() => lockFolder(folder)).toThrow(/is open in process/)
    first.release()
    lockFolder(folder).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is never taken from a process that lives, also when its note is old', () => {
    const folder = temporaryFolder()
    const held = lockFolder(folder)
    for (const name of readdirSync(folder)) fs.utimesSync(join(folder, name), 0, 0)
    expect(() => lockFolder(folder)).toThrow(/is open in process/)
    held.release()
  })

  it('passes over the note of a dead process, and of one whose id another process has now', () => {
    const folder = temporaryFolder()
    const held = lockFolder(folder)
    const [name] = readdirSync(folder)
    const note = JSON.parse(readFileSync(join(folder, name ?? ''), 'utf8'))
    held.release()
    writeFileSync(join(folder, 'lock-1-a-1.json'), JSON.stringify({ ...note, pid: 2 ** 22 + 1 }))
    writeFileSync(join(folder, 'lock-2-b-1.json'), JSON.stringify({ ...note, started: note.started + 1 }))
    lockFolder(folder).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('heeds a note that is half written while its writer lives, and no longer', () => {
    const folder = temporaryFolder()
    const begun = join(folder, `lock-${process.pid}-a-1.json`)
    for (const half of ['', '{"pid": 1']) {
      writeFileSync(begun, half)
      expect(() => lockFolder(folder)).toThrow(`is open in process ${process.pid} `)
    }
    fs.renameSync(begun, join(folder, `lock-${2 ** 22 + 1}-a-1.json`))
    lockFolder(folder).release()
    expect(readdirSync(folder)).toEqual([])
  })

  it('is not taken before its note is on the disk', () => {
    const folder = temporaryFolder()
    const syncing = vi.spyOn(fs, 'fsyncSync').mockImplementation(() => {
      throw Object.assign(new Error('EIO'), { code: 'EIO' })
    })
    syncBuiltinESMExports()
    try {
      expect(() => lockFolder(folder)).toThrow('EIO')
      expect(readdirSync(folder)).toEqual([])
    } finally {
      syncing.mockRestore()
      syncBuiltinESMExports()
    }
  })

  it('goes on where the folder cannot be reached for a moment', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const folder = temporaryFolder()
      const held = lockFolder(folder)
      const [name = ''] = readdirSync(folder)
      fs.utimesSync(join(folder, name), 0, 0)
      const away = `${folder}-away`
      fs.renameSync(folder, away)
      vi.advanceTimersByTime(15 * 60 * 1000)
      fs.renameSync(away, folder)
      vi.advanceTimersByTime(15 * 60 * 1000)
      expect(fs.statSync(join(folder, name)).mtimeMs).toBeGreaterThan(0)
      held.release()
    } finally {
      vi.useRealTimers()
    }
  })

  it('says what to do where it cannot see whether the holder lives, and only there', () => {
    const folder = temporaryFolder()
    const held = lockFolder(folder)
    expect(() => lockFolder(folder)).toThrow(/which any number of processes can share$/)
    held.release()
    const note = join(folder, 'lock-1-c-1.json')
    writeFileSync(note, JSON.stringify({ pid: 1, started: 1, place: 'ffffffff', host: 'a container' }))
    expect(() => lockFolder(folder)).toThrow(
      `it counts as gone 60 minutes after it last touched ${note}; if you are sure that it is dead, delete that file`,
    )
    rmSync(note)
    lockFolder(folder).release()
  })

  it('heeds a note from elsewhere for an hour', () => {
    const folder = temporaryFolder()
    const note = join(folder, 'lock-3-c-1.json')
    writeFileSync(note, JSON.stringify({ pid: 1, started: 1, place: 'ffffffff', host: 'another machine' }))
    expect(() => lockFolder(folder)).toThrow(/another/)
    const twoHoursAgo = new Date(Date.now() - 2 * 60 * 60 * 1000)
    fs.utimesSync(note, twoHoursAgo, twoHoursAgo)
    lockFolder(folder).release()
  })
})
