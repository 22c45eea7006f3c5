import { join } from 'node:path'
import { type HookEvent, hookCommand, hookSeconds, mcpCommand } from '../install/command-line.ts'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Surroundings, Target } from '../install/target.ts'
import { geminiFolder } from './folder.ts'

/**
 * The host takes every exit code above 1 for a refusal, even a shell's code for a missing program: a prompt would be
 * blocked, and an answer requested again without end. Also, it ends only the shell of a late hook, but waits for
 * whatever the shell started. PowerShell, which runs hooks on Windows, ends with 1 by itself, and there the host ends
 * everything.
 */
const inShell = ({ platform }: Surroundings, command: string): string =>
  platform === 'win32' ? command : `${command} <&0 & trap "kill $!" TERM; wait $! || exit 1`

/** Installed as an extension, because some versions of the host ignore hooks in the settings file. */
export const geminiTarget: Target = {
  name: 'gemini',
  title: 'Gemini CLI',
  isInstalled: (machine) => machine.exists(geminiFolder(machine)),
  edits(machine, wiring) {
    const folder = join(geminiFolder(machine), 'extensions', 'recall')
    const hook = (event: HookEvent) => ({
      type: 'command',
      command: inShell(machine, hookCommand(wiring, event)),
      // This host's timeouts are in milliseconds; other hosts use seconds.
      timeout: 1000 * hookSeconds(event),
    })
    const hooks = {
      SessionStart: [{ hooks: [hook('session-start')] }],
      // The host forgets what was told at a start once a session is resumed, and drops it after `/clear`. It keeps what
      // comes with a prompt.
      BeforeAgent: [{ hooks: [hook('turn-start'), ...(wiring.recallPrompts ? [hook('prompt')] : [])] }],
      // Other triggers are not compactions: before each request the host asks whether it is time for one.
      PreCompress: [{ matcher: 'manual', hooks: [hook('pre-compact')] }],
      SessionEnd: [{ hooks: [hook('session-end')] }],
    }
    return [
      ownFile(join(folder, 'GEMINI.md'), protocolText(wiring, { injects: true, archives: true })),
      ownFile(join(folder, 'hooks', 'hooks.json'), `${JSON.stringify({ hooks }, null, 2)}\n`),
      ownFile(
        join(folder, 'gemini-extension.json'),
        `${JSON.stringify(
          {
            name: 'recall',
            version: wiring.version,
            contextFileName: 'GEMINI.md',
            mcpServers: { recall: mcpCommand(machine, wiring) },
          },
          null,
          2,
        )}\n`,
      ),
    ]
  },
  notes(machine) {
    const settings = machine.readText(join(geminiFolder(machine), 'settings.json')) ?? ''
    return [
      'Gemini CLI starts the tools only in folders that you trust, and gemini -p offers them to the agent only when you allow them (--approval-mode yolo, or a policy).',
      ...(/"hooksConfig"\s*:\s*\{[^}]*"enabled"\s*:\s*false/.test(settings)
        ? ['hooksConfig.enabled is false in settings.json: nothing is remembered until it is true.']
        : []),
    ]
  },
}
