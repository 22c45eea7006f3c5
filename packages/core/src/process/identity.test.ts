import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { expect, it, onTestFinished } from 'vitest'
import { hasEnded, identityOf, isGone, longestElsewhereMs, thisProcess } from './identity.ts'

const never = (): number => {
  throw new Error('a process that runs here is asked for by its id')
}

it('a process that lives is not gone, and one that ended is', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
  await once(child, 'spawn')
  const identity = identityOf(child.pid ?? 0)
  expect(isGone(identity, never)).toBe(false)
  expect(hasEnded(identity.pid)).toBe(false)
  expect(isGone(thisProcess(), never)).toBe(false)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(isGone(identity, never)).toBe(true)
  expect(hasEnded(identity.pid)).toBe(true)
})

const tellsEnded = process.platform === 'linux'
if (!tellsEnded) process.stderr.write('skipped: only Linux says that a process ended and is not waited for\n')

it.runIf(tellsEnded)('a process that ended and is not waited for is gone', async () => {
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore', 'pipe'],
  })
  onTestFinished(() => void parent.kill())
  const [pid] = await once(parent.stdout ?? parent, 'data')
  const identity = identityOf(Number(pid))
  expect(isGone(identity, never)).toBe(false)
  // The shell would still ask for it: only what the shell becomes does not.
  await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n')
  parent.stdio[3]?.destroy()
  await expect.poll(() => isGone(identity, never)).toBe(true)
  expect(() => process.kill(identity.pid, 0)).not.toThrow()
})

it('a later process with the same id is another one, where start times can be told', () => {
  const { started } = thisProcess()
  expect(isGone({ ...thisProcess(), started: started - 1 }, never)).toBe(started > 0)
  expect(isGone({ ...thisProcess(), started: 0 }, never)).toBe(false)
})

it('a process elsewhere is gone when it has been silent for long', () => {
  const elsewhere = { ...thisProcess(), place: 'ffffffff' }
  expect(isGone(elsewhere, () => Date.now() - longestElsewhereMs / 2)).toBe(false)
  expect(isGone(elsewhere, () => Date.now() - longestElsewhereMs * 2)).toBe(true)
})
