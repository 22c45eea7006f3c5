import type { JsonValue } from '@recall/core'

/** Commands of `recall` that print what is in the memory. */
const printsMemory =
  /^(?:search|consume|export|distill|echoes (?:show|surface|remembrance)|hub (?:search|get))\b/
const recallProgram = /^(?:\S*[\\/])?(?:recall(?:-echo)?(?:\.cjs)?|@recall\/cli)(?:@\S+)?$/
/** What starts another program, and its options. */
const starter = /^(?:\w+=.*|(?:npx|bunx|pnpm|yarn)(?:@\S+)?|node|exec|dlx|-.*)$/
const reader = /^(?:cat|head|tail|less|bat)$/
const memoryFile =
  /(?:^|[\\/])(?:EPHEMERAL\.md|memory[\\/]MEMORY\.md|(?:conversation|archive-log)-\d{3,}\.md)$/
/** Commands that stand around others and print nothing. */
const silent = /^(?:(?:cd|export|set|true)(?: .*)?|\w+=\S*)?$/

/** A longer command line is a script. */
const longestLine = 2000

/** Members of a tool's input that hold a command line, and those that hold the path of a file. */
const commandMembers = ['command', 'cmd', 'script']
const pathMembers = ['file_path', 'path', 'absolute_path', 'filePath', 'target_file']

/**
 * Whether a tool was used to look into the memory, and for nothing else. What it puts out is in the memory already:
 * archived once more, it would be found beside its origin, or before it.
 */
export function asksMemory(input: JsonValue): boolean {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) return false
  const command = commandMembers.map((name) => lineOf(input[name])).find((line) => line !== '')
  if (command !== undefined) return onlyAsksMemory(command)
  return pathMembers.some((name) => memoryFile.test(lineOf(input[name])))
}

/** A command line; of a list of arguments, as `bash -lc` gets it, the last one. */
function lineOf(value: JsonValue | undefined): string {
  const line = Array.isArray(value) ? value.at(-1) : value
  return typeof line === 'string' ? line : ''
}

function onlyAsksMemory(line: string): boolean {
  if (line.length > longestLine) return false
  const commands = withoutQuoted(line)
    .split(/&&|\|\||[;\n]/)
    .map((command) => command.trim())
    .filter((command) => !silent.test(command))
  return commands.length > 0 && commands.every((command) => printsWhatIsKnown(command))
}

/** Separators within quotes separate nothing. */
const withoutQuoted = (line: string): string => line.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '_')

/** What follows a pipe only shortens what came before. */
function printsWhatIsKnown(command: string): boolean {
  const words = (command.split('|')[0] ?? '').trim().split(/\s+/)
  const [program = '', ...rest] = words.slice(words.findIndex((word) => !starter.test(word)))
  if (recallProgram.test(program)) return printsMemory.test(rest.join(' '))
  return reader.test(program) && rest.length > 0 && memoryFile.test(rest.at(-1) ?? '')
}
