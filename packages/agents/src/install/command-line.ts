import { isRecord } from '../json.ts'
import type { Surroundings, Wiring } from './target.ts'

const hookEvents = [
  'session-start',
  'turn-start',
  'prompt',
  'pre-compact',
  'post-compact',
  'session-end',
  'stop',
] as const
export type HookEvent = (typeof hookEvents)[number]

/** How many seconds a host waits for a hook: a person waits for what is told with a prompt. */
export const hookSeconds = (event: HookEvent): number =>
  event === 'prompt' || event === 'turn-start' ? 5 : 10

/**
 * The command line of a hook, with the same text for every host: hosts that read each other's hook files recognise
 * a hook by its text, and some ask for trust again when it changes.
 */
export function hookCommand({ command, root, consume }: Wiring, event: HookEvent): string {
  const isToldThen = event === 'session-start' || event === 'turn-start'
  const flags = consume && isToldThen ? ['--clear'] : []
  // Where paths begin with a slash, a backslash is part of a name, and a shell would read it as an escape.
  const quote = root.startsWith('/') ? quoteForShell : quoteOnWindows
  return [...command, 'hook', event, '--root', root, ...flags].map(quote).join(' ')
}

/** The command that starts the MCP server. */
export function mcpCommand(
  machine: Surroundings,
  { command, root }: Wiring,
): { command: string; args: string[] } {
  const [program = 'recall', ...args] = [...command, 'mcp', '--root', root]
  // On Windows npm puts a script on the PATH, which only the shell can start.
  const isScript = machine.platform === 'win32' && !/^node$|\.exe$/i.test(program)
  return isScript ? { command: 'cmd', args: ['/c', program, ...args] } : { command: program, args }
}

const hookLine = new RegExp(`^(?<program>.*?) hook (?:${hookEvents.join('|')})(?: (?<rest>.*))?$`, 's')

/** Our name as a whole word, or as part of a path: not as in `total-recall` or `recall-notes`. */
const ownName = /(?<![\w-])recall(?:-echo)?(?:\.\w+)?(?![\w-])/i

/**
 * Whether a hook is ours, judged by what it runs and not by the program's path: a moved program replaces its hook. Our
 * name is in the program, or in the root after it, as we write it.
 */
export function isOwnCommand(command: unknown): boolean {
  const { program, rest = '' } = hookLine.exec(String(command))?.groups ?? {}
  if (program === undefined) return false
  return ownName.test(program) || (rest.startsWith('--root ') && ownName.test(rest))
}

/**
 * Whether an MCP server is ours, judged like a hook: it runs `mcp` for a root, as we write it, or `recall mcp`, as a
 * person may have written.
 */
export function isOwnServer(server: unknown): boolean {
  if (!isRecord(server)) return false
  const words = [server.command, server.args].flat().map(String)
  const at = words.lastIndexOf('mcp')
  return (
    words[at + 1] === '--root' ||
    /(?:^|[\\/])recall(?:-echo)?(?:\.\w+)?$|@recall\/cli/.test(words[at - 1] ?? '')
  )
}

/** The members of a hook or a server that say what it starts; the others are the person's. */
export const startOf = (member: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(member as object).filter(([name]) => ['type', 'command', 'args'].includes(name)),
  )

const isPlain = (word: string): boolean => /^[\w@%+=:,./-]+$/.test(word)

const quoteForShell = (word: string): string =>
  isPlain(word) ? word : `"${word.replace(/[\\"$`]/g, '\\$&')}"`

/** Backslashes separate folders on Windows, and stay as they are. */
const quoteOnWindows = (word: string): string =>
  isPlain(word) ? word : `"${word.replace(/["$`]/g, '\\$&')}"`
