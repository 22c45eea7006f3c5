import { hookCommand, hookSeconds } from '../install/command-line.ts'
import type { Wiring } from '../install/target.ts'

/**
 * This host's hooks are functions in a module: the module runs the same commands as the hooks of other hosts. Version 1
 * uses its `server`, version 2 its `setup`.
 */
export function pluginText(wiring: Wiring): string {
  return `// Written by recall init, removed by recall uninit.
import { spawn } from 'node:child_process'

const commands = {
  start: ${JSON.stringify(hookCommand(wiring, 'session-start'))},
  stop: ${JSON.stringify(hookCommand(wiring, 'stop'))},
  compacting: ${JSON.stringify(hookCommand(wiring, 'pre-compact'))},${
    wiring.recallPrompts ? `\n  prompt: ${JSON.stringify(hookCommand(wiring, 'prompt'))},` : ''
  }
}

/** What the hook prints; nothing when it fails or takes too long: memory never stands in the way. */
const run = (command, input, seconds = ${hookSeconds('session-start')}) =>
  new Promise((resolve) => {
    const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true })
    // What the shell started may keep the pipe open after it was killed.
    const timer = setTimeout(() => (child.kill(), child.stdout.destroy(), resolve('')), seconds * 1000)
    let printed = ''
    child.stdout.on('data', (chunk) => (printed += chunk))
    child.stdin.on('error', () => {})
    child.on('error', () => resolve(''))
    child.on('close', () => (clearTimeout(timer), resolve(printed)))
    child.stdin.end(JSON.stringify({ host: 'opencode', ...input }))
  })

/** The sessions of a folder, and what memory tells them. */
const sessionsIn = (directory) => {
  const contexts = new Map()
  const inputOf = (sessionID) => ({ session_id: sessionID, cwd: directory })
  return {
    contextOf: (sessionID) => {
      if (!contexts.has(sessionID)) contexts.set(sessionID, run(commands.start, inputOf(sessionID)))
      return contexts.get(sessionID)
    },
    lookUp: (sessionID, prompt) =>
      commands.prompt && prompt !== ''
        ? run(commands.prompt, { ...inputOf(sessionID), prompt }, ${hookSeconds('prompt')})
        : '',
    compacts: (sessionID) => run(commands.compacting, inputOf(sessionID)),
    rests: (sessionID) => run(commands.stop, inputOf(sessionID)),
    isDeleted: (sessionID) => contexts.delete(sessionID),
  }
}

/** How the host's own requests for a title and a summary begin in version 1, which go by the session's id as well. */
const ownRequest = /^You are an? (?:title generator|(?:anchored )?context summarization)\\b/

const server = async ({ directory }) => {
  const sessions = sessionsIn(directory)
  return {
    event: async ({ event }) => {
      const id = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === 'session.idle' && id) await sessions.rests(id)
      if (event.type === 'session.deleted' && id) sessions.isDeleted(id)
    },
    'experimental.chat.system.transform': async ({ sessionID }, output) => {
      if (!sessionID || ownRequest.test(output.system[0] ?? '')) return
      const context = await sessions.contextOf(sessionID)
      // A second system block is refused by some servers, so it goes into the first.
      if (context) output.system[0] = context + '\\n\\n' + (output.system[0] ?? '')
    },
    'chat.message': async ({ sessionID }, { message, parts }) => {
      const typed = parts.filter(({ type, synthetic, ignored }) => type === 'text' && !synthetic && !ignored)
      const found = await sessions.lookUp(sessionID, typed.map(({ text }) => text).join('\\n'))
      if (!found) return
      // Parts are in the order of their ids; a synthetic one is shown to nobody.
      const id = parts.at(-1).id + 'r'
      parts.push({ id, sessionID, messageID: message.id, type: 'text', text: found, synthetic: true })
    },
    'experimental.session.compacting': async ({ sessionID }) => {
      await sessions.compacts(sessionID)
    },
  }
}

const restsAt = ['succeeded', 'failed', 'interrupted'].map((end) => 'session.execution.' + end)

const setup = async ({ event, location, session }) => {
  const sessions = sessionsIn(location?.directory ?? process.cwd())
  /** What was found for the latest prompt: a prompt itself stays as it was typed. */
  const found = new Map()
  let isLoaded = true
  await session.hook('prompt', async ({ sessionID, prompt }) => {
    found.set(sessionID, await sessions.lookUp(sessionID, prompt.text))
  })
  await session.hook('context', async ({ sessionID, system }) => {
    for (const text of [await sessions.contextOf(sessionID), found.get(sessionID)])
      if (text) system.push({ type: 'text', text })
  })
  await session.hook('compaction', async ({ sessionID }) => {
    await sessions.compacts(sessionID)
  })
  const listen = async () => {
    for await (const { type, data } of event.subscribe()) {
      if (!isLoaded) return
      if (restsAt.includes(type)) void sessions.rests(data.sessionID)
      if (type !== 'session.deleted') continue
      sessions.isDeleted(data.sessionID)
      found.delete(data.sessionID)
    }
  }
  listen().catch(() => {})
  return () => {
    isLoaded = false
  }
}

export default { id: 'recall', server, setup }
`
}
