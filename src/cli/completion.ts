/** `ibid completion`: scripts for bash, zsh and fish, made of the commands and flags as they are. */
import { Argument, Command } from 'commander'
import { safe } from './text.js'

interface Flag {
  readonly long: string
  readonly about: string
  readonly takesValue: boolean
  readonly choices: readonly string[]
}

interface Known {
  readonly name: string
  readonly about: string
  readonly flags: readonly Flag[]
  /** The first argument, where it is one of a few words. */
  readonly words: readonly string[]
}

export function completionCommand(program: Command): Command {
  return new Command('completion')
    .description('print a completion script for your shell')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', HOW)
    .action((shell: 'bash' | 'zsh' | 'fish') => {
      process.stdout.write(SHELLS[shell](program.commands.map(knownOf)))
    })
}

const HOW = `
bash:  ibid completion bash > ~/.local/share/bash-completion/completions/ibid
zsh:   ibid completion zsh > "\${fpath[1]}/_ibid"
fish:  ibid completion fish > ~/.config/fish/completions/ibid.fish
`

function knownOf(command: Command): Known {
  const flags = command.options.map(({ long, description, required, optional, argChoices }) => ({
    long: long ?? '',
    about: safe(description),
    takesValue: required || optional,
    choices: argChoices ?? [],
  }))
  const help = { long: '--help', about: 'show how it is used', takesValue: false, choices: [] }
  const words = [
    ...(command.registeredArguments[0]?.argChoices ?? []),
    ...command.commands.map((sub) => sub.name()),
  ]
  return { name: command.name(), about: safe(command.description()), flags: [...flags, help], words }
}

const SHELLS = { bash, zsh, fish }

function bash(commands: readonly Known[]): string {
  const cases = commands.map(({ name, flags, words }) => {
    const valued = flags
      .filter(({ choices }) => choices.length > 0)
      .map(({ long, choices }) => `        ${name}:${long}) words='${choices.join(' ')}' ;;\n`)
    const all = [...flags.map(({ long }) => long), ...words].join(' ')
    return { valued: valued.join(''), all: `        ${name}) words='${all}' ;;\n` }
  })
  return `# bash completion of ibid
_ibid() {
  local words='' current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${commands.map(({ name }) => name).join(' ')} --help --version'
  else
    case "\${COMP_WORDS[1]}:$before" in
${cases.map(({ valued }) => valued).join('')}        *) case "\${COMP_WORDS[1]}" in
${cases.map(({ all }) => all).join('')}        esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _ibid ibid
`
}

function zsh(commands: readonly Known[]): string {
  const cases = commands.map(({ name, flags, words }) => {
    const options = flags.map(({ long, about, takesValue, choices }) => {
      const value = choices.length > 0 ? `:value:(${choices.join(' ')})` : takesValue ? ':value:_files' : ''
      return `        ${single(`${long}[${about.replaceAll(/[[\]\\:]/g, String.raw`\$&`)}]${value}`)}`
    })
    const rest = words.length > 0 ? `\n        '1:word:(${words.join(' ')})'` : `\n        '*:: :_default'`
    return `      ${name}) _arguments${[...options].map((o) => ` \\\n${o}`).join('')} \\${rest} ;;`
  })
  const names = commands.map(
    ({ name, about }) => `    ${single(`${name}:${about.replaceAll(':', String.raw`\:`)}`)}`,
  )
  return `#compdef ibid
_ibid() {
  local -a commands
  commands=(
${names.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local chosen="\${words[2]}"
    shift words
    (( CURRENT-- ))
    case "$chosen" in
${cases.join('\n')}
    esac
  fi
}
if [ "\${funcstack[1]}" = "_ibid" ]; then _ibid "$@"; else compdef _ibid ibid; fi
`
}

function fish(commands: readonly Known[]): string {
  const top = commands.map(
    ({ name, about }) => `complete -c ibid -n __fish_use_subcommand -f -a ${name} -d ${single(about)}`,
  )
  const rest = commands.flatMap(({ name, flags, words }) => {
    const seen = `-n '__fish_seen_subcommand_from ${name}'`
    const options = flags.map(({ long, about, takesValue, choices }) => {
      const value = choices.length > 0 ? ` -x -a '${choices.join(' ')}'` : takesValue ? ' -r' : ''
      return `complete -c ibid ${seen} -l ${long.replace(/^--/, '')} -d ${single(about)}${value}`
    })
    return words.length > 0 ? [...options, `complete -c ibid ${seen} -f -a '${words.join(' ')}'`] : options
  })
  return `# fish completion of ibid\n${[...top, ...rest].join('\n')}\n`
}

function single(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
