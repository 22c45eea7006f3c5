import type { CommandSpec } from '../parse-command-line.ts'
import type { Io } from './io.ts'
import { wrap } from './wrap.ts'

/** Longer lines are hard to read, even where there is room for them. */
const widest = 100
/** For a terminal of unknown width. */
const usual = 80

type Screen = Pick<Io, 'isTerminal' | 'columns'>

const widthOf = ({ isTerminal, columns }: Screen): number => (isTerminal ? Math.min(columns, widest) : usual)

const usageOf = ({ name, positionals }: CommandSpec): string => ['recall', name, ...positionals].join(' ')

/** Help for all commands. */
export function programHelp(
  commands: readonly CommandSpec[],
  description: string,
  examples: readonly string[],
  screen: Screen,
): string {
  const width = widthOf(screen)
  return sections([
    'Usage: recall <command> [options]',
    paragraph(description, width),
    heading(
      'Commands',
      commands.map((command) => [[command.name, ...command.positionals].join(' '), command.description]),
      width,
    ),
    heading(
      'Options',
      [
        ['-h, --help', 'help for all commands, or for one'],
        ['-V, --version', 'print the version'],
      ],
      width,
    ),
    exampleLines(examples),
  ])
}

/** Help for one command. */
export function commandHelp(command: CommandSpec, screen: Screen): string {
  const width = widthOf(screen)
  const options = Object.entries(command.options).map(
    ([name, { short, value, of, description, choices }]): [string, string] => [
      `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`,
      `${of ? `${of.join(', ')}: ` : ''}${description}${choices ? ` (${choices.join(', ')})` : ''}`,
    ],
  )
  return sections([
    `Usage: ${usageOf(command)} [options]`,
    paragraph(sentence(command.description), width),
    command.alias ? `Also called: recall ${command.alias}` : '',
    command.actions ? paragraph(`${command.positionals[0]}: ${command.actions.join(', ')}`, width) : '',
    heading('Options', [...options, ['-h, --help', 'this help']], width),
    exampleLines(command.examples),
  ])
}

const sections = (parts: string[]): string => `${parts.filter((part) => part !== '').join('\n\n')}\n`

const paragraph = (text: string, width: number): string => wrap(text, width).join('\n')

/** In fewer columns a description would be a column of single words. */
const narrowest = 24

function heading(title: string, rows: readonly (readonly [string, string])[], width: number): string {
  const left = Math.max(...rows.map(([name]) => name.length))
  const room = Math.max(narrowest, width - left - 4)
  const lines = rows.flatMap(([name, description]) =>
    wrap(description, room).map((line, i) => `  ${(i === 0 ? name : '').padEnd(left)}  ${line}`),
  )
  return `${title}:\n${lines.join('\n')}`
}

const exampleLines = (examples: readonly string[]): string =>
  examples.length === 0 ? '' : `Examples:\n${examples.map((line) => `  $ ${line}`).join('\n')}`

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
