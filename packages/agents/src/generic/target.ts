import { join } from 'node:path'
import { hookCommand, mcpCommand } from '../install/command-line.ts'
import { ownFile } from '../install/own-file.ts'
import { skillText } from '../install/protocol.ts'
import type { Target } from '../install/target.ts'

/** Any agent that reads the shared folder of skills. The person wires everything else by hand. */
export const genericTarget: Target = {
  name: 'generic',
  title: 'Any other agent',
  isInstalled: ({ exists, home }) => exists(join(home, '.agents')),
  edits: ({ home }, wiring) => [
    ownFile(
      join(home, '.agents', 'skills', 'recall', 'SKILL.md'),
      skillText(wiring, { injects: false, archives: false }),
    ),
  ],
  notes: (machine, wiring) => [
    `MCP server: ${JSON.stringify({ mcpServers: { recall: mcpCommand(machine, wiring) } })}`,
    `Hooks, with the session as JSON on standard input ({"session_id","transcript_path","cwd"}): ${hookCommand(wiring, 'session-start')} prints the context; ${hookCommand(wiring, 'session-end')} archives the transcript.`,
  ],
}
