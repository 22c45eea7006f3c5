import type { Surroundings, Wiring } from './target.ts'

export type HookEvent = 'session-start' | 'prompt' | 'pre-compact' | 'post-compact' | 'session-end' | 'stop'

/**
 * The command line of a hook, the same text for every host: hosts that read each other's hook files recognise
 * a hook as the same one by its text, and some ask for trust again when it changes.
 */
export function hookCommand({ command, root, consume }: Wiring, event: HookEvent): string {
  const flags = consume && event === 'session-start' ? ['--clear'] : []
  return [...command, 'hook', event, '--root', root, ...flags].map(quote).join(' ')
}

/** How the MCP server is started. */
export function mcpCommand(
  machine: Surroundings,
  { command, root }: Wiring,
): { command: string; args: string[] } {
  const [program = 'recall', ...args] = [...command, 'mcp', '--root', root]
  // What npm puts on the path of Windows is a script that only its shell can start.
  const isScript = machine.platform === 'win32' && !/\.exe$/i.test(program)
  return isScript ? { command: 'cmd', args: ['/c', program, ...args] } : { command: program, args }
}

/** Ours by what it does, not by where the program lies: a moved program replaces its hook. */
export function isOwnCommand(command: unknown): boolean {
  return (
    typeof command === 'string' &&
    /recall/i.test(command) &&
    / hook (?:session-start|prompt|pre-compact|post-compact|session-end|stop)(?: |$)/.test(command)
  )
}

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word)
    ? word
    : `"${word.replace(/[\\"$`]/g, (mark) => (mark === '\\' ? mark : `\\${mark}`))}"`
