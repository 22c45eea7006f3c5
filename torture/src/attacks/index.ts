import type { Attack } from '../attack.ts'
import { clients } from './clients.ts'
import { clock } from './clock.ts'
import { damage } from './damage.ts'
import { disk } from './disk.ts'
import { echoes } from './echoes.ts'
import { embedder } from './embedder.ts'
import { hooks } from './hooks.ts'
import { http } from './http.ts'
import { hub } from './hub.ts'
import { kills, protocolKills } from './kills.ts'
import { load } from './load.ts'
import { mcp } from './mcp.ts'
import { mcpHttp } from './mcp-http.ts'
import { migrations } from './migrations.ts'
import { hostileInputs } from './parsers.ts'
import { sessions } from './sessions.ts'
import { upkeep } from './upkeep.ts'
import { writers } from './writers.ts'

/** By the name that the command line takes. */
export const attacks = {
  kills,
  'protocol-kills': protocolKills,
  echoes,
  upkeep,
  migrations,
  writers,
  damage,
  clock,
  disk,
  embedder,
  hub,
  http,
  clients,
  mcp,
  'mcp-http': mcpHttp,
  hooks,
  load,
  sessions,
  parsers: hostileInputs,
} satisfies Record<string, Attack>
