import { join } from 'node:path'
import { type HookEvent, hookCommand, hookSeconds, mcpCommand } from '../install/command-line.ts'
import { jsonFile } from '../install/json-file.ts'
import { markedBlock } from '../install/marked-block.ts'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Target } from '../install/target.ts'
import { copilotFolder } from './folder.ts'

export const copilotTarget: Target = {
  name: 'copilot',
  title: 'GitHub Copilot CLI',
  isInstalled: (machine) => machine.exists(copilotFolder(machine)),
  edits(machine, wiring) {
    const folder = copilotFolder(machine)
    const events: [string, HookEvent][] = [
      ['sessionStart', 'session-start'],
      ...(wiring.recallPrompts ? [['userPromptSubmitted', 'prompt'] as [string, HookEvent]] : []),
      ['preCompact', 'pre-compact'],
      ['sessionEnd', 'session-end'],
    ]
    const hooks = events.map(([event, hook]) => {
      const command = hookCommand(wiring, hook)
      // Without the `&` PowerShell takes a quoted program for a text.
      const powershell = `& ${command}`
      return [event, [{ type: 'command', bash: command, powershell, timeoutSec: hookSeconds(hook) }]]
    })
    return [
      // Some versions drop what a hook prints at the start of a session; the text says what to do in that case.
      markedBlock(
        join(folder, 'copilot-instructions.md'),
        protocolText(wiring, { injects: true, archives: true }),
      ),
      ownFile(
        join(folder, 'hooks', 'recall.json'),
        `${JSON.stringify({ version: 1, hooks: Object.fromEntries(hooks) }, null, 2)}\n`,
      ),
      jsonFile(join(folder, 'mcp-config.json'), [
        {
          at: ['mcpServers', 'recall'],
          server: { type: 'local', ...mcpCommand(machine, wiring), tools: ['*'] },
        },
      ]),
    ]
  },
  notes: () => [
    'VS Code has its own list of servers: run "MCP: Add Server" there, with the command shown by recall init --target generic.',
  ],
}
