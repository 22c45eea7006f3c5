import { join } from 'node:path'
import { type HookEvent, hookSeconds, mcpCommand } from '../install/command-line.ts'
import { hookPart } from '../install/hook-part.ts'
import { jsonFile } from '../install/json-file.ts'
import { ownFile } from '../install/own-file.ts'
import { skillText } from '../install/protocol.ts'
import type { Target } from '../install/target.ts'
import { cursorFolder } from './folder.ts'

/** The host has no rules file for a user, so the protocol is a skill. */
export const cursorTarget: Target = {
  name: 'cursor',
  title: 'Cursor',
  isInstalled: (machine) => machine.exists(cursorFolder(machine)),
  edits(machine, wiring) {
    const folder = cursorFolder(machine)
    const events: [string, HookEvent][] = [
      ['sessionStart', 'session-start'],
      ['beforeSubmitPrompt', 'prompt'],
      ['stop', 'stop'],
    ]
    return [
      ownFile(
        join(folder, 'skills', 'recall', 'SKILL.md'),
        skillText(wiring, { injects: true, archives: true }),
      ),
      jsonFile(join(folder, 'hooks.json'), [
        { at: ['version'], default: 1 },
        ...events.map(([event, hook]) =>
          hookPart(wiring, ['hooks', event], hook, (command) => ({ command, timeout: hookSeconds(hook) })),
        ),
      ]),
      jsonFile(join(folder, 'mcp.json'), [
        { at: ['mcpServers', 'recall'], server: mcpCommand(machine, wiring) },
      ]),
    ]
  },
}
