import { statfsSync } from 'node:fs'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { checkTemplate } from './check-template.ts'
import { holdsData } from './data-folder.ts'
import { createUpkeep, tend } from './upkeep.ts'

/** The part of PGlite that drizzle and this package use. */
export type Engine = Pick<PGlite, 'query' | 'exec' | 'transaction' | 'dumpDataDir' | 'close'>

/**
 * A PGlite that notices when its Postgres has ended. After a panic Postgres no longer answers, and PGlite would wait
 * for it in a loop that blocks the process.
 */
class WatchedPglite extends PGlite {
  /** The error that ended its Postgres. */
  fatal: unknown

  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    if (this.fatal !== undefined) throw this.fatal
    return super.execProtocolRawSync(message)
  }

  override execProtocol(...call: Parameters<PGlite['execProtocol']>): ReturnType<PGlite['execProtocol']> {
    return this.#watched(super.execProtocol(...call))
  }

  override execProtocolStream(
    ...call: Parameters<PGlite['execProtocolStream']>
  ): ReturnType<PGlite['execProtocolStream']> {
    return this.#watched(super.execProtocolStream(...call))
  }

  async #watched<T>(call: Promise<T>): Promise<T> {
    try {
      return await call
    } catch (error) {
      if (isFatal(error)) this.fatal ??= error
      throw error
    }
  }
}

/** Errors of statements have a severity, too. An error without one comes from the runtime itself. */
function isFatal(error: unknown): boolean {
  const { severity } = error as { severity?: string }
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC'
}

/**
 * Free bytes needed for a restart. Postgres ends when it cannot write its write-ahead log, and recovery needs up to
 * two segments of 16 MB.
 */
const bytesToRestart = 2 * 16 * 1024 * 1024

const diskFull = '53100'

/**
 * An embedded Postgres that restarts itself after a full disk ended it, at the first call after space is free again.
 * Acknowledged writes are recovered, as after a crash.
 *
 * @param folder where the data is; `undefined` keeps everything in memory
 * @throws MemoryError CORRUPTION when Postgres does not start with the existing data, INVALID_INPUT when it does not
 * start with a template, UNAVAILABLE when the disk is full or there is no such explanation
 */
export async function createEngine(options: PGliteOptions, folder: string | undefined): Promise<Engine> {
  if (options.loadDataDir) {
    await checkTemplate(options.loadDataDir).catch((cause: unknown) => {
      throw unfitTemplate(cause)
    })
  }
  const isNew = folder === undefined || !holdsData(folder)
  let engine = await start(options).catch((cause: unknown) => {
    if (folder !== undefined) refuseFullDisk(folder, cause)
    if (options.loadDataDir) throw unfitTemplate(cause)
    throw isNew ? notMade(folder, cause) : damaged(folder, cause)
  })
  let restarting: Promise<WatchedPglite> | undefined
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false

  const usable = async (): Promise<WatchedPglite> => {
    if (isClosed) throw unavailable('the embedded Postgres is closed', engine.fatal)
    if (engine.fatal === undefined) return engine
    if (folder === undefined || (engine.fatal as { code?: string }).code !== diskFull)
      throw unavailable('the embedded Postgres has ended: open it again', engine.fatal)
    refuseFullDisk(folder, engine.fatal)
    const { loadDataDir: _, ...again } = options
    restarting ??= start(again)
      .then((next) => {
        engine = next
        return next
      })
      .finally(() => {
        restarting = undefined
      })
    return restarting
  }

  const calling = <T>(call: (engine: WatchedPglite) => Promise<T>): Promise<T> => {
    const answer = usable().then(call)
    const settle = (): boolean => underWay.delete(answer)
    underWay.add(answer)
    answer.then(settle, settle)
    upkeep.called()
    return answer
  }
  const upkeep = createUpkeep(async () => {
    if (!isClosed && engine.fatal === undefined) await tend(engine)
  })

  return {
    query: (...given) =>
      calling((running) => running.query(...(given as Parameters<PGlite['query']>)) as Promise<never>),
    exec: (...given) => calling((running) => running.exec(...given)),
    transaction: (...given) => calling((running) => running.transaction(...given)),
    dumpDataDir: (...given) => calling((running) => running.dumpDataDir(...given)),
    async close() {
      isClosed = true
      // A call to a Postgres that has ended would wait for it in a loop that blocks the process.
      await Promise.allSettled([...underWay, upkeep.close()])
      // An engine that has ended has nothing left to write.
      if (engine.fatal === undefined) await engine.close()
    },
  }
}

async function start(options: PGliteOptions): Promise<WatchedPglite> {
  const engine = new WatchedPglite(options)
  await engine.waitReady
  return engine
}

function refuseFullDisk(folder: string, cause: unknown): void {
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize >= bytesToRestart) return
  throw unavailable(
    `the disk of ${folder} is full: the embedded Postgres goes on when ${bytesToRestart} bytes are free`,
    cause,
  )
}

// PGlite does not report what Postgres said before it ended, so the error is guessed from what is known about the data.

const damaged = (folder: string, cause: unknown): MemoryError =>
  new MemoryError(
    `Postgres does not start with the data in ${folder}: they are damaged, or of another version of Postgres, or this user may not read and write all of them. Restore a backup, or move the folder away to start afresh`,
    MemoryErrorCode.CORRUPTION,
    { cause, details: { path: folder } },
  )

const notMade = (folder: string | undefined, cause: unknown): MemoryError =>
  unavailable(
    folder === undefined
      ? 'the embedded Postgres does not start: check that there is enough memory'
      : `no database can be made in ${folder}: check that its disk is writable, and that there is enough memory`,
    cause,
  )

const unfitTemplate = (cause: unknown): MemoryError =>
  new MemoryError(
    'Postgres does not start with this template: give it an unmodified dump, made by this version',
    MemoryErrorCode.INVALID_INPUT,
    { cause },
  )

const unavailable = (message: string, cause: unknown): MemoryError =>
  new MemoryError(message, MemoryErrorCode.UNAVAILABLE, { cause })
