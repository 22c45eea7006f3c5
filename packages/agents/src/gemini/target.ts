import { join } from 'node:path'
import { type HookEvent, hookCommand, mcpCommand } from '../install/command-line.ts'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Surroundings, Target } from '../install/target.ts'

export const geminiFolder = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  join(env.GEMINI_CLI_HOME || home, '.gemini')

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
      ['AfterAgent', 'stop'],
      ['SessionEnd', 'session-end'],
    ]
    // This host's timeouts are milliseconds; those of others are seconds.
    const hooks = events.map(([event, hook]) => [
      event,
      [{ hooks: [{ type: 'command', command: hookCommand(wiring, hook), timeout: 10_000 }] }],
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
    return /"hooksConfig"\s*:\s*\{[^}]*"enabled"\s*:\s*false/.test(settings)
      ? ['hooksConfig.enabled is false in settings.json: nothing is remembered until it is true.']
      : []
  },
}
