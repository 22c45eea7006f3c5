import { UsageError } from '../exit-codes.ts'
import type { Io } from '../io.ts'
import type { CommandSpec } from '../parse-command-line.ts'

/** Prints a shell script that completes commands and their options. */
export async function completion(io: Io, shell: string, specs: readonly CommandSpec[]): Promise<undefined> {
  const commands = specs.map(({ name, description, actions = [], options }) => ({
    name,
    description,
    actions,
    options: Object.keys(options).map((option) => `--${option}`),
  }))
  const script = { bash, zsh, fish }[shell]
  if (!script) throw new UsageError(`completion is there for bash, zsh and fish, not for '${shell}'`)
  io.out(script(commands))
  return undefined
}

type Described = { name: string; description: string; actions: readonly string[]; options: string[] }[]

const bash = (commands: Described): string => `_recall() {
  local word="\${COMP_WORDS[COMP_CWORD]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')}" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.map(({ name, actions, options }) => `    ${name}) COMPREPLY=($(compgen -W "${[...actions, ...options].join(' ')}" -f -- "$word")) ;;`).join('\n')}
  esac
}
complete -o filenames -F _recall recall recall-echo
`

const zsh = (commands: Described): string => `#compdef recall recall-echo
_recall() {
  local -a commands
  commands=(
${commands.map(({ name, description }) => `    '${name}:${quote(description)}'`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${commands.map(({ name, actions, options }) => `    ${name}) _arguments ${[...options, ...(actions.length > 0 ? [`1:action:(${actions.join(' ')})`] : [])].map((word) => `'${word}'`).join(' ')} '*:file:_files' ;;`).join('\n')}
  esac
}
compdef _recall recall recall-echo
`

const fish = (commands: Described): string =>
  ['recall', 'recall-echo']
    .flatMap((program) =>
      commands.flatMap(({ name, description, actions, options }) => {
        const after = `complete -c ${program} -n '__fish_seen_subcommand_from ${name}'`
        return [
          `complete -c ${program} -n __fish_use_subcommand -a ${name} -d '${quote(description)}'`,
          ...(actions.length > 0 ? [`${after} -a '${actions.join(' ')}'`] : []),
          ...options.map((option) => `${after} -l ${option.slice(2)}`),
        ]
      }),
    )
    .join('\n')
    .concat('\n')

const quote = (text: string): string => text.replaceAll("'", '').replaceAll(':', '\\:')
