import { join } from 'node:path'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Target } from '../install/target.ts'
import { yamlList } from '../install/yaml-list.ts'

/**
 * The host has no hooks and no tools, but it reads files when it starts: the target points it to those of the memory.
 */
export const aiderTarget: Target = {
  name: 'aider',
  title: 'Aider',
  isInstalled: ({ exists, home }) => exists(join(home, '.aider.conf.yml')) || exists(join(home, '.aider')),
  edits({ home }, wiring) {
    const protocol = join(home, '.aider.recall.md')
    return [
      ownFile(protocol, protocolText(wiring, { injects: false, archives: false, tools: false })),
      // The host does not start when a listed file is missing: `recall init` creates all three.
      yamlList(join(home, '.aider.conf.yml'), 'read', [protocol, wiring.files.curated, wiring.files.window]),
    ]
  },
  notes: () => [
    'A project with a read: list of its own replaces this one. Aider has no hooks and no tools: the agent reads memory, and you archive its sessions yourself: recall archive .aider.chat.history.md',
  ],
}
