/** Parses the arguments of a command line by the table of commands. Knows nothing of the commands' work. */
import { parseArgs } from 'node:util'
import { suggestion } from '../fields/nearest.ts'
import type { Command, CommandArguments, Option } from './command.ts'
import { helpOf, helpOfAll, helpOfGroup } from './help.ts'

/** A parsed command line. `misuse`: the error message. */
export type ParsedCommandLine =
  | { readonly command: Command; readonly given: CommandArguments; readonly isJson: boolean }
  | { readonly help: string }
  | { readonly misuse: string }

/** Options that every command has. */
export const common: readonly Option[] = [
  { name: 'json', does: 'answers JSON on standard output; messages go to standard error' },
  { name: 'help', does: 'tells what the command takes' },
]

/** Without a command, the service is started. */
export function understand(args: readonly string[], commands: readonly Command[]): ParsedCommandLine {
  const [first = '', second = ''] = args
  // The option may stand before the command.
  if (first === '--json' && second !== '' && !second.startsWith('-'))
    return understand([...args.slice(1), first], commands)
  const find = (name: string) => commands.find(command => command.name === name)
  if (first === '' || first.startsWith('-'))
    return args.some(isHelp) ? { help: helpOfAll(commands) } : read(find('serve')!, args, commands)
  if (first === 'help') return { help: helpOfAll(commands) }
  const single = find(first)
  if (single) return read(single, args.slice(1), commands)
  const group = commands.filter(command => command.name.startsWith(`${first} `))
  if (group.length === 0) return misuse(`There is no command "${first}"`, first, words(commands))
  if (args.slice(1).some(isHelp) && (second === '' || second.startsWith('-')))
    return { help: helpOfGroup(first, group) }
  const command = find(`${first} ${second}`)
  if (command) return read(command, args.slice(2), commands)
  const own = group.map(({ name }) => name.slice(first.length + 1))
  return second === '' || second.startsWith('-')
    ? { misuse: `"dealwright ${first}" needs one of ${own.join(', ')}; see "dealwright ${first} --help".` }
    : misuse(`There is no command "${first} ${second}"`, second, own, ` ${first}`)
}

function isHelp(arg: string): boolean {
  return arg === '--help' || arg === '-h'
}

function words(commands: readonly Command[]): string[] {
  return commands.map(({ name }) => name.split(' ', 1)[0]!)
}

function misuse(what: string, word: string, known: readonly string[], of = ''): ParsedCommandLine {
  const see = `see "dealwright${of} --help".`
  const hint = suggestion(word, known, '').replace('Did', 'did')
  return { misuse: `${what}; ${hint ? `${hint} Or ` : ''}${see}` }
}

/** Parses the rest of a command line, for one command. */
function read(command: Command, args: readonly string[], commands: readonly Command[]): ParsedCommandLine {
  if (args.some(isHelp)) return { help: helpOf(command) }
  const known = new Map([...command.options, ...common].map(option => [option.name, option]))
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(
      [...known.values()].map(({ name, short, value }) => {
        const type: 'string' | 'boolean' = value ? 'string' : 'boolean'
        return [name, short ? { type, short } : { type }]
      }),
    ),
    strict: false,
    tokens: true,
  })
  const given: { [name: string]: string } = {}
  for (const token of tokens) {
    if (token.kind === 'option-terminator') continue
    const wrong =
      token.kind === 'positional'
        ? wrongArgument(command, token.value, given, commands)
        : wrongOption(command, token, known, given)
    if (wrong) return wrong
    if (token.kind === 'positional') given[command.argument!.name] = token.value
    else {
      const before = given[token.name]
      given[token.name] = `${before === undefined ? '' : `${before}\0`}${token.value ?? 'yes'}`
    }
  }
  const missing = [
    ...(command.argument && given[command.argument.name] === undefined
      ? [`the ${command.argument.does}`]
      : []),
    ...command.options
      .filter(({ name, isNeeded }) => isNeeded && !(name in given))
      .map(({ name }) => `--${name}`),
  ]
  if (missing.length > 0)
    return { misuse: `"dealwright ${command.name}" needs ${missing.join(' and ')}; see ${seeOf(command)}.` }
  const { json, ...own } = given
  return { command, given: own, isJson: json !== undefined }
}

function wrongArgument(
  { name, argument }: Command,
  value: string,
  args: CommandArguments,
  commands: readonly Command[],
): ParsedCommandLine | null {
  if (argument && value !== '' && args[argument.name] === undefined) return null
  if (name === 'serve') return misuse(`There is no command "${value}"`, value, words(commands))
  return { misuse: `"${value}" is one argument too many; see "dealwright ${name} --help".` }
}

type OptionToken = { readonly name: string; readonly rawName: string; readonly value: string | undefined }

function wrongOption(
  command: Command,
  { name, rawName, value }: OptionToken,
  known: ReadonlyMap<string, Option>,
  args: CommandArguments,
): ParsedCommandLine | null {
  const option = known.get(name)
  const see = seeOf(command)
  if (!option || !(rawName.startsWith('--') || rawName === `-${option.short}`)) {
    const hint = suggestion(name, known.keys(), '').replace('Did you mean "', 'did you mean "--')
    return {
      misuse: `"dealwright ${command.name}" has no option ${rawName}; ${hint ? `${hint} Or ` : ''}see ${see}.`,
    }
  }
  if (args[name] !== undefined && !option.isMany) return { misuse: `${rawName} is given twice; see ${see}.` }
  if (option.value === undefined && value !== undefined)
    return { misuse: `${rawName} takes no value; see ${see}.` }
  if (option.value !== undefined && (value === undefined || value === '' || value.startsWith('--')))
    return { misuse: `${rawName} needs a value (${option.value}); see ${see}.` }
  return null
}

function seeOf({ name }: Command): string {
  return `"dealwright ${name} --help"`
}
