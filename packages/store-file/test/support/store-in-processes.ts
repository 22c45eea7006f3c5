import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Capabilities, MemoryError, type MemoryStore } from '@recall/core'

interface Answer {
  id: number
  value?: unknown
  error?: Pick<MemoryError, 'message' | 'code' | 'scope' | 'key' | 'details'>
}

/** A store in a process of its own. */
export interface StoreProcess {
  open(root: string): Promise<Capabilities>
  call(name: string, given: unknown[]): Promise<unknown>
  /** Resolves when the process has ended. */
  kill(): Promise<void>
}

export function startStore(script: string): StoreProcess {
  const child = spawn(process.execPath, [script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>()
  const answer = (id: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject })
    })
  let calls = 0
  child.on('message', (message) => {
    const { id, value, error } = message as Answer
    const caller = waiting.get(id)
    waiting.delete(id)
    if (error) caller?.reject(new MemoryError(error.message, error.code, error))
    else caller?.resolve(value)
  })
  const ended = once(child, 'exit')
  child.on('exit', (code, signal) => {
    for (const { reject } of waiting.values())
      reject(new Error(`the store's process ended: ${signal ?? code}`))
  })
  const call: StoreProcess['call'] = (name, given) => {
    const id = ++calls
    const result = answer(id)
    child.send({ id, name, given })
    return result
  }
  return {
    open: (root) => call('open', [root]) as Promise<Capabilities>,
    call,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** One store whose calls run in several processes by turns. Closing it closes none of them. */
export function takingTurns(processes: readonly StoreProcess[], capabilities: Capabilities): MemoryStore {
  let turn = 0
  const next =
    (name: string) =>
    (...given: unknown[]): Promise<unknown> =>
      (processes[turn++ % processes.length] as StoreProcess).call(name, given)
  const shared = ['put', 'get', 'find', 'remove', 'removeAll', 'commit', 'sweep']
  const calls = [...shared, 'touch', 'stats', 'stamp']
  const ofCold = [...shared, 'archive', 'restore']
  const close = async (): Promise<void> => {}
  return {
    name: 'file',
    capabilities,
    close,
    cold: { name: 'cold', close, ...Object.fromEntries(ofCold.map((name) => [name, next(`cold.${name}`)])) },
    ...Object.fromEntries(calls.map((name) => [name, next(name)])),
  } as unknown as MemoryStore
}
