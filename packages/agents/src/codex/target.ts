import { join } from 'node:path'
import { parse } from 'smol-toml'
import { type HookEvent, hookSeconds, isOwnServer, mcpCommand } from '../install/command-line.ts'
import { hookPart } from '../install/hook-part.ts'
import { jsonFile } from '../install/json-file.ts'
import { markedBlock } from '../install/marked-block.ts'
import { protocolText } from '../install/protocol.ts'
import type { Target } from '../install/target.ts'
import { tomlTable } from '../install/toml-table.ts'
import { isRecord } from '../json.ts'
import { codexFolder } from './folder.ts'

/** The host has no event for the end of a session: it is archived when the next one starts. */
export const codexTarget: Target = {
  name: 'codex',
  title: 'Codex CLI',
  isInstalled: (machine) => machine.exists(codexFolder(machine)),
  edits(machine, wiring) {
    const folder = codexFolder(machine)
    const events: [string, HookEvent][] = [
      ['SessionStart', 'session-start'],
      ['UserPromptSubmit', 'prompt'],
      ['PreCompact', 'pre-compact'],
      ['PostCompact', 'post-compact'],
      ['Stop', 'stop'],
    ]
    // The host reads the first of the two that has text.
    const override = join(folder, 'AGENTS.override.md')
    const isOverridden = (machine.readText(override) ?? '').trim() !== ''
    return [
      markedBlock(
        isOverridden ? override : join(folder, 'AGENTS.md'),
        protocolText(wiring, { injects: true, archives: true }),
        { limit: 32 * 1024, unit: 'bytes' },
      ),
      jsonFile(
        join(folder, 'hooks.json'),
        events.map(([event, hook]) =>
          hookPart(wiring, ['hooks', event], hook, (command) => ({
            hooks: [{ type: 'command', command, timeout: hookSeconds(hook) }],
          })),
        ),
      ),
      tomlTable(
        join(folder, 'config.toml'),
        ['mcp_servers', 'recall'],
        { ...mcpCommand(machine, wiring) },
        isOwnServer,
      ),
    ]
  },
  notes: (machine) => [
    ...(runsHooks(machine.readText(join(codexFolder(machine), 'config.toml')) ?? '')
      ? []
      : ['[features] of config.toml switches hooks off: nothing is remembered until they are on.']),
    'Codex runs a hook only once you trust it: open Codex, which asks, or type /hooks and allow the recall hooks. Until then codex exec passes them over in silence.',
  ],
}

/** Whether settings leave the hooks on; true if they cannot be read, which is reported elsewhere. */
function runsHooks(settings: string): boolean {
  try {
    const { features } = parse(settings)
    return !isRecord(features) || ![features.hooks, features.codex_hooks].includes(false)
  } catch {
    return true
  }
}
