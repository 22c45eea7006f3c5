import { join } from 'node:path'
import { mcpCommand } from '../install/command-line.ts'
import { jsonFile } from '../install/json-file.ts'
import { markedBlock } from '../install/marked-block.ts'
import { protocolText } from '../install/protocol.ts'
import type { Surroundings, Target } from '../install/target.ts'

const folderOf = ({ home }: Surroundings): string => join(home, '.codeium', 'windsurf')

function devinFolder({ env, home, platform }: Surroundings): string {
  if (platform === 'win32') return join(env.APPDATA || join(home, 'AppData', 'Roaming'), 'devin')
  return join(env.XDG_CONFIG_HOME || join(home, '.config'), 'devin')
}

/** Only rules and tools: the host ignores what hooks print, and its transcripts cannot be read. */
export const windsurfTarget: Target = {
  name: 'windsurf',
  title: 'Windsurf (Devin Desktop)',
  isInstalled: (machine) => machine.exists(folderOf(machine)) || machine.exists(devinFolder(machine)),
  edits(machine, wiring) {
    const folders = [folderOf(machine), devinFolder(machine)].filter((folder) => machine.exists(folder))
    const server = { at: ['mcpServers', 'recall'], server: mcpCommand(machine, wiring) }
    return [
      markedBlock(
        join(folderOf(machine), 'memories', 'global_rules.md'),
        protocolText(wiring, { injects: false, archives: false }),
        { limit: 6000 },
      ),
      ...(folders.length > 0 ? folders : [folderOf(machine)]).map((folder) =>
        jsonFile(join(folder, 'mcp_config.json'), [server]),
      ),
    ]
  },
  notes: () => [
    'Windsurf gives sessions no memory by itself and keeps no readable transcripts: the agent reads and writes memory through its rules and tools.',
  ],
}
