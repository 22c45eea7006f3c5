import { UsageError } from '../exit-codes.ts'
import type { CommandSpec } from '../parse-command-line.ts'
import type { Io } from '../terminal/io.ts'

/** Prints a shell script that completes commands, their options and the words these accept. */
export async function completion(io: Io, shell: string, specs: readonly CommandSpec[]): Promise<undefined> {
  const commands = specs.flatMap(({ name, alias, description, actions = [], options }) => {
    const described = {
      description,
      actions,
      options: Object.entries(options).map(([option, { value, choices, words = [] }]) => ({
        name: `--${option}`,
        takesValue: value !== undefined,
        choices: choices ?? words,
      })),
    }
    return [name, ...(alias ? [alias] : [])].map((each) => ({ name: each, ...described }))
  })
  const help = { name: 'help', description: 'show help for a command', options: [] }
  const script = { bash, zsh, fish }[shell]
  if (!script) throw new UsageError(`completion exists for bash, zsh and fish, not for '${shell}'`)
  io.out(script([...commands, { ...help, actions: commands.map(({ name }) => name) }]))
  return undefined
}

interface Described {
  name: string
  description: string
  /** Words for the first argument. */
  actions: readonly string[]
  options: { name: string; takesValue: boolean; choices: readonly string[] }[]
}

/** Reads the answers line by line, because file names may contain spaces; not with `mapfile`, which macOS lacks. */
const bash = (commands: Described[]): string => `_recall_reply() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$@")
}
_recall() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    _recall_reply -W "${commands.map(({ name }) => name).join(' ')}" -- "$word"
    return
  fi
  case "\${COMP_WORDS[COMP_CWORD - 1]}" in
${[...choicesOf(commands)].map(([option, choices]) => `    ${option}) _recall_reply -W "${choices.join(' ')}" -- "$word"; return ;;`).join('\n')}
  esac
  local files=-f
  case "\${COMP_WORDS[1]}" in
${commands.map(bashLine).join('\n')}
  esac
}
complete -o filenames -F _recall recall recall-echo
`

/** An argument in the place of an action is not a file. */
function bashLine({ name, actions, options }: Described): string {
  const words = [...actions, ...options.map((option) => option.name)].join(' ')
  const only = actions.length > 0 ? '[ "$COMP_CWORD" -eq 2 ] && files=; ' : ''
  return `    ${name}) ${only}_recall_reply -W "${words}" $files -- "$word" ;;`
}

/** The options that take one of a few words; an option has the same words in every command. */
const choicesOf = (commands: Described[]): Map<string, readonly string[]> =>
  new Map(
    commands.flatMap(({ options }) =>
      options.flatMap(({ name, choices }) => (choices.length > 0 ? [[name, choices] as const] : [])),
    ),
  )

/** A file in the folders where zsh looks for functions is, at its first call, the function itself. */
const zsh = (commands: Described[]): string => `#compdef recall recall-echo
_recall() {
  local -a commands
  commands=(
${commands.map(({ name, description }) => `    '${name}:${withoutQuotes(description).replaceAll(':', '\\:')}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${commands.map((command) => `    ${command.name}) _arguments ${zshArguments(command)} '*:file:_files' ;;`).join('\n')}
  esac
}
if [ "$funcstack[1]" = _recall ]; then
  _recall "$@"
else
  compdef _recall recall recall-echo
fi
`

const zshArguments = ({ actions, options }: Described): string =>
  [
    ...options.map(({ name, takesValue, choices }) => {
      if (!takesValue) return name
      return `${name}:value:${choices.length > 0 ? `(${choices.join(' ')})` : '_files'}`
    }),
    ...(actions.length > 0 ? [`1:action:(${actions.join(' ')})`] : []),
  ]
    .map((word) => `'${word}'`)
    .join(' ')

/** Counts the words before the one being completed: a word may be both a command and an action of another. */
const fish = (commands: Described[]): string => `function __recall_words
  set -l words (commandline -opc)
  test (count $words) -eq $argv[1]
end
function __recall_command
  set -l words (commandline -opc)
  test (count $words) -ge 2; and test $words[2] = $argv[1]
end
${['recall', 'recall-echo'].flatMap((program) => commands.flatMap((command) => fishLines(program, command))).join('\n')}
`

function fishLines(program: string, { name, description, actions, options }: Described): string[] {
  const inCommand = `complete -c ${program} -n '__recall_command ${name}`
  return [
    `complete -c ${program} -f -n '__recall_words 1' -a ${name} -d '${withoutQuotes(description)}'`,
    ...(actions.length > 0 ? [`${inCommand}; and __recall_words 2' -f -a '${actions.join(' ')}'`] : []),
    ...options.map(({ name: option, takesValue, choices }) => {
      const value = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : ' -r -F'
      return `${inCommand}' -l ${option.slice(2)}${takesValue ? value : ''}`
    }),
  ]
}

const withoutQuotes = (text: string): string => text.replaceAll("'", '')
