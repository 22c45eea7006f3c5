import type { PGlite } from '@electric-sql/pglite'

/** Write-ahead log that may gather before it is let go, in bytes. */
const mostLogged = 32 * 1024 * 1024

/** Dead rows of a table are left alone up to this many, and up to this share of the living ones, as in Postgres. */
const mostDead = { rows: 1000, share: 0.2 }

/**
 * What a server does in the background, and an embedded Postgres, which is a single process, never does by itself:
 * takes back the space of dead rows, brings the statistics of their tables up to date, and lets the write-ahead log go.
 */
export async function tend(engine: Pick<PGlite, 'query' | 'exec'>): Promise<void> {
  const worn = await engine.query<{ name: string }>(
    `select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
     where n_dead_tup > $1::int + $2::float8 * n_live_tup`,
    [mostDead.rows, mostDead.share],
  )
  for (const { name } of worn.rows) await engine.exec(`vacuum (analyze) ${name}`)
  const { rows } = await engine.query<{ logged: number }>(
    'select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::float8 as logged from pg_control_checkpoint()',
  )
  if ((rows[0]?.logged ?? 0) > mostLogged) await engine.exec('checkpoint')
}

/** When an embedded Postgres is tended: once it rests, or at the latest after so many calls. */
const restMs = 1000
const fewestCalls = 100
const mostCalls = 5000

/**
 * Counts the calls of an embedded Postgres and says when it is time to tend it.
 *
 * @param due runs `tend`; its failure only means that there is more to do the next time
 */
export function createUpkeep(due: () => Promise<void>) {
  let calls = 0
  let lastAt = 0
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined

  const run = (): void => {
    calls = 0
    running ??= due()
      .catch(() => {})
      .finally(() => {
        running = undefined
      })
  }

  const look = (): void => {
    timer = undefined
    const rested = performance.now() - lastAt
    if (rested < restMs) timer = setTimeout(look, restMs - rested).unref()
    else if (calls >= fewestCalls) run()
  }

  return {
    called(): void {
      calls++
      lastAt = performance.now()
      if (calls >= mostCalls) run()
      else timer ??= setTimeout(look, restMs).unref()
    },

    /** Resolves when nothing runs any more, and nothing will begin. */
    async close(): Promise<void> {
      clearTimeout(timer)
      await running
    },
  }
}
