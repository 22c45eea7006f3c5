import { statfsSync } from 'node:fs'
import { PGlite, type PGliteOptions } from '@electric-sql/pglite'
import { MemoryError, MemoryErrorCode } from '@recall/core'

/** What drizzle and we ask of an embedded Postgres. */
export type Engine = Pick<PGlite, 'query' | 'exec' | 'transaction' | 'dumpDataDir' | 'close'>

/**
 * Postgres inside this process that knows when it has ended. One that panicked does not answer any more: PGlite would
 * wait for it in a loop that never lets go of the process.
 */
class MortalPglite extends PGlite {
  /** What it ended with. */
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

/** Errors of statements have a severity as well; what has none comes from the runtime itself. */
function isFatal(error: unknown): boolean {
  const { severity } = error as { severity?: string }
  return severity === undefined || severity === 'FATAL' || severity === 'PANIC'
}

/** Postgres ends when it cannot write its log ahead, and needs as much as two files of it to begin again. */
const roomToBegin = 2 * 16 * 1024 * 1024

const diskFull = '53100'

/**
 * An embedded Postgres that begins again by itself when it had to end because its disk was full: with the first call
 * after there is room. What was acknowledged is there again, as after a crash.
 *
 * @param folder of its data; `undefined` keeps everything in memory
 */
export async function createEngine(options: PGliteOptions, folder: string | undefined): Promise<Engine> {
  let engine = await begin(options)
  let beginning: Promise<MortalPglite> | undefined
  let isClosed = false

  const living = async (): Promise<MortalPglite> => {
    if (engine.end === undefined) return engine
    if (isClosed) throw unavailable('the embedded Postgres is closed', engine.end)
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

  return {
    query: async (...call) => (await living()).query(...(call as Parameters<PGlite['query']>)) as never,
    exec: async (...call) => (await living()).exec(...call),
    transaction: async (...call) => (await living()).transaction(...call),
    dumpDataDir: async (...call) => (await living()).dumpDataDir(...call),
    async close() {
      isClosed = true
      // Whoever opens the folder next must not meet one that is just beginning.
      await beginning?.catch(() => {})
      // One that has ended has nothing to write any more.
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
