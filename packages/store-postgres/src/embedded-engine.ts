import { statfsSync } from 'node:fs'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { MemoryError, MemoryErrorCode } from '@recall/core'

/** The part of PGlite that drizzle and this package use. */
export type Engine = Pick<PGlite, 'query' | 'exec' | 'transaction' | 'dumpDataDir' | 'close'>

/**
 * A PGlite that notices when its Postgres has ended. After a panic Postgres no longer answers, and PGlite would wait
 * for it in a loop that blocks the process.
 */
class MortalPglite extends PGlite {
  /** The error that ended it. */
  end: unknown

  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    if (this.end !== undefined) throw this.end
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
      if (isFatal(error)) this.end ??= error
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
const roomToBegin = 2 * 16 * 1024 * 1024

const diskFull = '53100'

/**
 * An embedded Postgres that restarts by itself after a full disk ended it, with the first call after there is room
 * again. Acknowledged writes are recovered, as after a crash.
 *
 * @param folder where the data is; `undefined` keeps everything in memory
 */
export async function createEngine(options: PGliteOptions, folder: string | undefined): Promise<Engine> {
  let engine = await begin(options)
  let beginning: Promise<MortalPglite> | undefined
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false

  const living = async (): Promise<MortalPglite> => {
    if (isClosed) throw unavailable('the embedded Postgres is closed', engine.end)
    if (engine.end === undefined) return engine
    if (folder === undefined || (engine.end as { code?: string }).code !== diskFull)
      throw unavailable('the embedded Postgres has ended: open it again', engine.end)
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize < roomToBegin) {
      const message = `the disk of ${folder} is full: the embedded Postgres goes on when ${roomToBegin} bytes are free`
      throw unavailable(message, engine.end)
    }
    const { loadDataDir: _, ...again } = options
    beginning ??= begin(again)
      .then((next) => {
        engine = next
        return next
      })
      .finally(() => {
        beginning = undefined
      })
    return beginning
  }

  const calling = <T>(call: (engine: MortalPglite) => Promise<T>): Promise<T> => {
    const answer = living().then(call)
    const over = (): boolean => underWay.delete(answer)
    underWay.add(answer)
    answer.then(over, over)
    return answer
  }

  return {
    query: (...given) =>
      calling((one) => one.query(...(given as Parameters<PGlite['query']>)) as Promise<never>),
    exec: (...given) => calling((one) => one.exec(...given)),
    transaction: (...given) => calling((one) => one.transaction(...given)),
    dumpDataDir: (...given) => calling((one) => one.dumpDataDir(...given)),
    async close() {
      isClosed = true
      // A call that came to a Postgres that has ended would wait for it in a loop that blocks the process.
      await Promise.allSettled(underWay)
      // An engine that has ended has nothing left to write.
      if (engine.end === undefined) await engine.close()
    },
  }
}

async function begin(options: PGliteOptions): Promise<MortalPglite> {
  const engine = new MortalPglite(options)
  await engine.waitReady
  return engine
}

const unavailable = (message: string, cause: unknown): MemoryError =>
  new MemoryError(message, MemoryErrorCode.UNAVAILABLE, { cause })
