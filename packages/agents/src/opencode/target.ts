import { join } from 'node:path'
import { hookCommand, isOwnServer, mcpCommand } from '../install/command-line.ts'
import { jsonFile } from '../install/json-file.ts'
import { markedBlock } from '../install/marked-block.ts'
import { ownFile } from '../install/own-file.ts'
import { protocolText } from '../install/protocol.ts'
import type { Surroundings, Target, Wiring } from '../install/target.ts'

const folderOf = ({ env, home }: Surroundings): string =>
  join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode')

export const opencodeDatabase = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string =>
  join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'opencode', 'opencode.db')

export const opencodeTarget: Target = {
  name: 'opencode',
  title: 'OpenCode',
  isInstalled: (machine) => machine.exists(folderOf(machine)),
  edits(machine, wiring) {
    const folder = folderOf(machine)
    const commented = join(folder, 'opencode.jsonc')
    const { command, args } = mcpCommand(machine, wiring)
    return [
      markedBlock(join(folder, 'AGENTS.md'), protocolText(wiring, { injects: true, archives: true })),
      ownFile(join(folder, 'plugins', 'recall.js'), pluginText(wiring)),
      jsonFile(machine.exists(commented) ? commented : join(folder, 'opencode.json'), [
        {
          at: ['mcp', 'recall'],
          member: { type: 'local', command: [command, ...args], enabled: true },
          isOurs: isOwnServer,
        },
      ]),
    ]
  },
}

/** This host's hooks are functions in a module: the module runs the same commands as the hooks of other hosts. */
function pluginText(wiring: Wiring): string {
  return `// Written by recall init, removed by recall uninit.
import { spawn } from 'node:child_process'

const commands = {
  start: ${JSON.stringify(hookCommand(wiring, 'session-start'))},
  stop: ${JSON.stringify(hookCommand(wiring, 'stop'))},
  compacting: ${JSON.stringify(hookCommand(wiring, 'pre-compact'))},
}

/** What the hook prints; nothing when it fails or takes too long: memory never stands in the way. */
const run = (command, input) =>
  new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true })
    // What the shell started may keep the pipe open after it was killed.
    const timer = setTimeout(() => (child.kill(), child.stdout.destroy(), resolve('')), 10_000)
    let printed = ''
    child.stdout.on('data', (chunk) => (printed += chunk))
    child.stdin.on('error', () => {})
    child.on('error', () => resolve(''))
    child.on('close', () => (clearTimeout(timer), resolve(printed)))
    child.stdin.end(JSON.stringify({ host: 'opencode', ...input }))
  })

export const Recall = async ({ directory }) => {
  const contexts = new Map()
  const inputOf = (sessionID) => ({ session_id: sessionID, cwd: directory })
  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === 'session.idle' && id) await run(commands.stop, inputOf(id))
      if (event.type === 'session.deleted' && id) contexts.delete(id)
    },
    'experimental.chat.system.transform': async ({ sessionID }, output) => {
      if (!sessionID) return
      if (!contexts.has(sessionID)) contexts.set(sessionID, run(commands.start, inputOf(sessionID)))
      const context = await contexts.get(sessionID)
      // A second system block is refused by some servers, so it goes into the first.
      if (context) output.system[0] = context + '\\n\\n' + (output.system[0] ?? '')
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      await run(commands.compacting, inputOf(sessionID))
    },
  }
}
`
}
