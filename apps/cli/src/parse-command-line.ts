import { parseArgs } from 'node:util'
import { didYouMean } from './did-you-mean.ts'
import { UsageError } from './exit-codes.ts'

export interface OptionSpec {
  description: string
  /** Name of the value, for example `<lines>`; an option without one is a switch. */
  value?: string
  short?: string
  /** The words that the value is limited to. */
  choices?: readonly string[]
  /** The value is a comma-separated list, and each item may also have an option of its own. */
  list?: true
  /** Suggested words for the value; others are possible. */
  words?: readonly string[]
  /** The actions of the command that take it; all, if none are named. */
  of?: readonly string[]
}

export interface CommandSpec {
  name: string
  /** Another name that people know it by. */
  alias?: string
  /** Positional arguments as usage shows them: `<needed>`, `[optional]`, `<several...>`. */
  positionals: readonly string[]
  /** The words that the first argument is limited to. */
  actions?: readonly string[]
  description: string
  examples: readonly string[]
  options: Readonly<Record<string, OptionSpec>>
  /** The exit code is 0 even after an error. */
  failsOpen?: true
}

export interface CommandLine {
  positionals: string[]
  /** `true` for a switch that was given, the text of an option with a value. */
  options: Record<string, string | true | undefined>
}

/**
 * Parses a command's arguments strictly.
 *
 * @throws UsageError for an unknown option or one of another action, a wrong value, or a wrong number of arguments
 */
export function parseCommandLine(command: CommandSpec, argv: readonly string[]): CommandLine {
  const { values, positionals } = strictly(command, () =>
    parseArgs({
      args: [...argv],
      allowPositionals: true,
      strict: true,
      options: Object.fromEntries(
        Object.entries(command.options).map(([name, { value, short, list = false }]) => [
          name,
          {
            type: value ? ('string' as const) : ('boolean' as const),
            multiple: list,
            ...(short ? { short } : {}),
          },
        ]),
      ),
    }),
  )
  checkPositionals(command, positionals)
  const line = { positionals, options: joined(values) }
  checkOptions(command, line)
  return line
}

const joined = (values: ReturnType<typeof parseArgs>['values']): CommandLine['options'] =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      (Array.isArray(value) ? value.join(',') : value) as string | true | undefined,
    ]),
  )

function checkOptions(command: CommandSpec, { positionals: [action = ''], options }: CommandLine): void {
  for (const [name, { choices, of }] of Object.entries(command.options)) {
    const value = options[name]
    if (value === undefined) continue
    if (of && !of.includes(action) && command.actions?.includes(action)) {
      throw new UsageError(`--${name} is for ${of.join(' and ')}, not for ${action}`)
    }
    if (value === '') throw new UsageError(`--${name} is empty (see 'recall ${command.name} --help')`)
    if (choices && typeof value === 'string' && !choices.includes(value)) {
      throw new UsageError(`--${name} takes ${choices.join(', ')}, not '${value}'`)
    }
  }
}

function checkPositionals({ name, positionals: expected }: CommandSpec, given: string[]): void {
  // A script's variable may not be set: an empty path would mean the current folder.
  if (given.includes('')) throw new UsageError(`an argument is empty (see 'recall ${name} --help')`)
  const needed = expected.filter((usage) => usage.startsWith('<'))
  const missing = needed[given.length]
  if (missing) throw new UsageError(`${missing} is missing (see 'recall ${name} --help')`)
  const isOpen = expected.some((usage) => usage.includes('...'))
  if (!isOpen && given.length > expected.length) {
    throw new UsageError(`'${given[expected.length]}' is one argument too many (see 'recall ${name} --help')`)
  }
}

function strictly<T>(command: CommandSpec, call: () => T): T {
  try {
    return call()
  } catch (error) {
    // Node continues with advice, on the same line or on further ones.
    const [reason] = (error as Error).message.split(/\.(?: To specify|\n)/)
    throw new UsageError(`${inOurWords(command, reason ?? '')} (see 'recall ${command.name} --help')`)
  }
}

function inOurWords(command: CommandSpec, reason: string): string {
  const valueless = /^Option '(.*)' argument is ambiguous$/.exec(reason)?.[1]
  if (valueless) return `${valueless} takes a value, and what follows it looks like an option`
  const unknown = /^Unknown option '(--.*)'$/.exec(reason)?.[1]
  if (!unknown) return reason
  const known = Object.keys(command.options).map((name) => `--${name}`)
  return `${reason}${didYouMean(unknown, known)}`
}

/** @throws UsageError unless the text is a whole number within the bounds */
export function wholeNumber(
  name: string,
  text: string | true | undefined,
  fallback: number,
  { least = 1, most }: { least?: number; most: number },
): number {
  if (text === undefined) return fallback
  const number = typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (number >= least && number <= most) return number
  throw new UsageError(`--${name} takes a whole number from ${least} to ${most}, not '${text}'`)
}

/**
 * Parses a number from 0 to 1; 0 when the option is missing.
 *
 * @throws UsageError for anything else
 */
export function share(name: string, text: string | true | undefined): number {
  if (text === undefined) return 0
  const number = typeof text === 'string' && /^[01](?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN
  if (number <= 1) return number
  throw new UsageError(`--${name} takes a number from 0 to 1, not '${text}'`)
}
