import { join } from 'node:path'
import { mcpCommand } from '../install/command-line.ts'
import { jsonFile } from '../install/json-file.ts'
import { markedBlock } from '../install/marked-block.ts'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Surroundings, Target } from '../install/target.ts'
import { pluginText } from './plugin-text.ts'

const folderOf = ({ env, home }: Surroundings): string =>
  join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')

export const opencodeTarget: Target = {
  name: 'opencode',
  title: 'OpenCode',
  isInstalled: (machine) => machine.exists(folderOf(machine)),
  edits(machine, wiring) {
    const folder = folderOf(machine)
    const commented = join(folder, 'opencode.jsonc')
    const instructions = join(folder, 'AGENTS.md')
    const ownInstructions = join(folder, 'recall.md')
    // While it has no AGENTS.md, the host reads ~/.claude/CLAUDE.md: one of ours would switch that off.
    const hasInstructions = machine.exists(instructions)
    const protocol = protocolText(wiring, { injects: true, archives: true })
    const { command, args } = mcpCommand(machine, wiring)
    return [
      hasInstructions ? markedBlock(instructions, protocol) : ownFile(ownInstructions, protocol),
      ownFile(join(folder, 'plugins', 'recall.js'), pluginText(wiring)),
      jsonFile(machine.exists(commented) ? commented : join(folder, 'opencode.json'), [
        hasInstructions
          ? { at: ['instructions'], noItem: ownInstructions }
          : { at: ['instructions'], item: ownInstructions },
        {
          at: ['mcp', 'recall'],
          server: { type: 'local', command: [command, ...args], enabled: true },
        },
      ]),
    ]
  },
}
