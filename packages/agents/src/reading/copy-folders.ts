import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isGone, thisProcess } from '@recall/core/process'

/** The folders of this process that exist. Each holds what another program keeps, and must not outlive its use. */
const folders = new Set<string>()
const ends = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Creates a temporary folder, which is removed at the latest when the process ends, also by a signal. */
export function createCopyFolder(): string {
  removeAbandoned()
  const { pid, place } = thisProcess()
  const folder = mkdtempSync(join(tmpdir(), `recall-read-${pid}-${place}-`))
  if (folders.size === 0) listen()
  folders.add(folder)
  return folder
}

/** False when a file in it is open, on Windows: try again later. */
export function removeCopyFolder(folder: string): boolean {
  if (!tryToRemove(folder)) return false
  folders.delete(folder)
  if (folders.size === 0) stopListening()
  return true
}

function listen(): void {
  process.on('exit', removeAll)
  for (const each of ends) process.on(each, end)
}

function stopListening(): void {
  process.off('exit', removeAll)
  for (const each of ends) process.off(each, end)
}

function removeAll(): void {
  for (const folder of folders) removeCopyFolder(folder)
}

function end(signal: NodeJS.Signals): void {
  // Whoever else listens decides whether the process ends.
  if (process.listenerCount(signal) > 1) return
  removeAll()
  stopListening()
  // Ends as it would have without this listener.
  process.kill(process.pid, signal)
}

const nameOfFolder = /^recall-read-(\d+)-([0-9a-f]{8})-/

/** Removes folders of processes that are gone. */
function removeAbandoned(): void {
  for (const name of readdirSync(tmpdir())) {
    const [, pid, place = ''] = nameOfFolder.exec(name) ?? []
    if (pid === undefined) continue
    const folder = join(tmpdir(), name)
    const lastWritten = (): number => statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (isGone({ pid: Number(pid), started: 0, place }, lastWritten)) tryToRemove(folder)
  }
}

/** False when it is open, or somebody else's. */
function tryToRemove(folder: string): boolean {
  try {
    rmSync(folder, { recursive: true, force: true })
    return true
  } catch {
    return false
  }
}
