import type { Attack } from '../attack.ts'
import { clock } from './clock.ts'
import { damage } from './damage.ts'
import { disk } from './disk.ts'
import { echoes } from './echoes.ts'
import { embedder } from './embedder.ts'
import { http } from './http.ts'
import { hub } from './hub.ts'
import { kills, protocolKills } from './kills.ts'
import { leaks } from './leaks.ts'
import { mcp } from './mcp.ts'
import { hostileInputs } from './parsers.ts'
import { upkeep } from './upkeep.ts'
import { writers } from './writers.ts'

/** By the name that the command line takes. */
export const attacks = {
  kills,
  'protocol-kills': protocolKills,
  echoes,
  upkeep,
  writers,
  damage,
  clock,
  disk,
  embedder,
  hub,
  http,
  mcp,
  leaks,
  parsers: hostileInputs,
} satisfies Record<string, Attack>
