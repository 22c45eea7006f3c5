import { join } from 'node:path'
import { type HookEvent, hookCommand, mcpCommand } from '../install/command-line.ts'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Surroundings, Target, Wiring } from '../install/target.ts'

export const geminiFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  join(env.GEMINI_CLI_HOME || home, '.gemini')

/**
 * The host takes every exit code above 1 for a refusal, also a shell's for a program that is gone: a prompt would be
 * blocked, and an answer be asked for again without end. PowerShell, which runs hooks on Windows, ends with 1 by itself.
 */
const withWarning = ({ platform }: Surroundings, wiring: Wiring, hook: HookEvent): string =>
  platform === 'win32' ? hookCommand(wiring, hook) : `${hookCommand(wiring, hook)} || exit 1`

/** Installed as an extension, because some versions of the host ignore hooks in the settings file. */
export const geminiTarget: Target = {
  name: 'gemini',
  title: 'Gemini CLI',
  isInstalled: (machine) => machine.exists(geminiFolder(machine)),
  edits(machine, wiring) {
    const folder = join(geminiFolder(machine), 'extensions', 'recall')
    const events: [string, HookEvent][] = [
      ['SessionStart', 'session-start'],
      ...(wiring.recallPrompts ? [['BeforeAgent', 'prompt'] as [string, HookEvent]] : []),
      ['PreCompress', 'pre-compact'],
      ['SessionEnd', 'session-end'],
    ]
    // This host's timeouts are milliseconds; those of others are seconds.
    const hooks = events.map(([event, hook]) => [
      event,
      [{ hooks: [{ type: 'command', command: withWarning(machine, wiring, hook), timeout: 10_000 }] }],
    ])
    return [
      ownFile(join(folder, 'GEMINI.md'), protocolText(wiring, { injects: true, archives: true })),
      ownFile(
        join(folder, 'hooks', 'hooks.json'),
        `${JSON.stringify({ hooks: Object.fromEntries(hooks) }, null, 2)}\n`,
      ),
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
