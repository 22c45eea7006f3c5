import type { attacks } from './attacks/index.ts'
import type { Goal } from './run-attacks.ts'

/** What `pnpm torture --campaign` does: more than 3,000 processes are killed in all. */
export const goals: Readonly<Record<keyof typeof attacks, Goal>> = {
  kills: { count: 'kills', total: 1600 },
  'protocol-kills': { count: 'kills', total: 500, size: 50 },
  echoes: { count: 'kills', total: 250, size: 20 },
  upkeep: { count: 'kills', total: 200 },
  migrations: { count: 'kills', total: 400, size: 100 },
  writers: { count: 'acknowledged writes', total: 16_000, size: 1000 },
  damage: { count: 'damaged files', total: 200 },
  clock: { count: 'steps', total: 3000 },
  disk: { count: 'full disks', total: 30 },
  embedder: { count: 'steps', total: 1800 },
  hub: { count: "seconds by the hub's clock", total: 3600, size: 40 },
  http: { count: 'requests', total: 10_000, size: 4000 },
  clients: { count: 'hostile requests', total: 2000, size: 400 },
  mcp: { count: 'lines', total: 10_000, size: 1000 },
  'mcp-http': { count: 'messages', total: 10_000, size: 2000 },
  sessions: { count: 'hostile sessions', total: 1000, size: 200 },
  parsers: { count: 'hostile inputs for each', total: 10_000, size: 5000 },
  hooks: { count: 'hooks', total: 10_000, size: 10_000 },
  load: { count: 'seconds', total: 1800, size: 1800 },
}
