import postgres from 'postgres'
import { type Served, serveInChild } from '../load.ts'
import { withDatabase } from '../postgres-database.ts'
import type { Row } from '../report.ts'
import { measureMemory, measureWrites } from './hub/calls.ts'
import { measureRecall, measureSearch, measureTwoHubs } from './hub/search.ts'
import { buildIndex, connections, fill, type HubSettings } from './hub/setting.ts'

/** One hub, then two, on a real server; compared in turn with the same work without a hub. */
export const measureHub = (settings: HubSettings): Promise<Row[]> =>
  withDatabase(settings.postgres, async ({ database, url }) => {
    const { size, say } = settings
    const sql = postgres(url, { max: connections, onnotice: () => {} })
    const served: Served[] = []
    try {
      say(`writing ${size} memories`)
      await fill(sql, size)
      say('building the index')
      await buildIndex(sql)
      const hub = await serveInChild('serve-hub', '--postgres', url)
      served.push(hub)
      const context = { ...settings, sql, url, hub }
      return [
        ...(await measureRecall(context, database)),
        ...(await measureSearch(context)),
        ...(await measureTwoHubs(context, served)),
        ...(await measureWrites(context)),
        ...(await measureMemory(context)),
      ]
    } finally {
      for (const each of served) each.stop()
      await sql.end()
    }
  })
