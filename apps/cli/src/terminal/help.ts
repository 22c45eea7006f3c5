import type { CommandSpec } from '../parse-command-line.ts'

const usageOf = ({ name, positionals }: CommandSpec): string => ['recall', name, ...positionals].join(' ')

/** Help for all commands. */
export function programHelp(
  commands: readonly CommandSpec[],
  description: string,
  examples: readonly string[],
): string {
  return sections([
    'Usage: recall <command> [options]',
    description,
    heading(
      'Commands',
      commands.map((command) => [[command.name, ...command.positionals].join(' '), command.description]),
    ),
    heading('Options', [
      ['-h, --help', 'help for all commands, or for one'],
      ['-V, --version', 'print the version'],
    ]),
    exampleLines(examples),
  ])
}

/** Help for one command. */
export function commandHelp(command: CommandSpec): string {
  const options = Object.entries(command.options).map(
    ([name, { short, value, of, description, choices }]): [string, string] => [
      `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`,
      `${of ? `${of.join(', ')}: ` : ''}${description}${choices ? ` (${choices.join(', ')})` : ''}`,
    ],
  )
  return sections([
    `Usage: ${usageOf(command)} [options]`,
    sentence(command.description),
    command.alias ? `Also called: recall ${command.alias}` : '',
    command.actions ? `${command.positionals[0]}: ${command.actions.join(', ')}` : '',
    heading('Options', [...options, ['-h, --help', 'this help']]),
    exampleLines(command.examples),
  ])
}

const sections = (parts: string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`

function heading(title: string, rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length))
  return `${title}:\n${rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')}`
}

const exampleLines = (examples: readonly string[]): string =>
  examples.length === 0 ? '' : `Examples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
