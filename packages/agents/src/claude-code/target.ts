import { join } from 'node:path'
import { type HookEvent, hookSeconds, mcpCommand } from '../install/command-line.ts'
import { hookPart } from '../install/hook-part.ts'
import { jsonFile } from '../install/json-file.ts'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Target } from '../install/target.ts'
import { claudeCodeFolder } from './folder.ts'

/** Our hook for each event of the host. */
const claudeCodeHooks: readonly [event: string, hook: HookEvent][] = [
  // No matcher, so that it also fires for resumed, cleared, forked and compacted sessions.
  ['SessionStart', 'session-start'],
  ['UserPromptSubmit', 'prompt'],
  ['PreCompact', 'pre-compact'],
  ['PostCompact', 'post-compact'],
  ['SessionEnd', 'session-end'],
]

export const claudeCodeTarget: Target = {
  name: 'claude',
  title: 'Claude Code',
  echoes: '.claude/echoes',
  isInstalled: (machine) => machine.exists(claudeCodeFolder(machine)),
  edits(machine, wiring) {
    const folder = claudeCodeFolder(machine)
    const hooks = claudeCodeHooks.map(([event, hook]) =>
      hookPart(wiring, ['hooks', event], hook, (command) => ({
        hooks: [{ type: 'command', command, timeout: hookSeconds(hook) }],
      })),
    )
    return [
      ownFile(
        join(folder, 'rules', 'recall-echo.md'),
        protocolText(wiring, { injects: true, archives: true }),
      ),
      jsonFile(join(folder, 'settings.json'), hooks),
      jsonFile(join(machine.env.CLAUDE_CONFIG_DIR || machine.home, '.claude.json'), [
        {
          at: ['mcpServers', 'recall'],
          server: { type: 'stdio', ...mcpCommand(machine, wiring), env: {} },
        },
      ]),
    ]
  },
  notes(machine) {
    const settings = machine.readText(join(claudeCodeFolder(machine), 'settings.json')) ?? ''
    return [
      ...(/"claude-mem[^"]*"\s*:\s*true/.test(settings)
        ? ['claude-mem is enabled too: sessions will be given the memories of both. Disable one of them.']
        : []),
      ...(/"recall@[^"]*"\s*:\s*true/.test(settings)
        ? [
            'The recall plugin is enabled too: every hook would run twice. Disable the plugin, or run recall uninit.',
          ]
        : []),
      ...(isRead(settings)
        ? []
        : [
            'settings.json is not strict JSON (comments, a comma at an end): Claude Code ignores it, and runs no hook until that is mended.',
          ]),
      ...(/"disableAllHooks"\s*:\s*true/.test(settings)
        ? ['disableAllHooks is set: nothing is remembered until it is off.']
        : []),
    ]
  },
}

/** The host reads its settings as plain JSON, and reports nothing when they are not. */
function isRead(settings: string): boolean {
  if (settings.trim() === '') return true
  try {
    JSON.parse(settings.replace(/^\uFEFF/, ''))
    return true
  } catch {
    return false
  }
}
