/** The help of the command line, and its page in docs/operating.md, generated from the table of commands. */
import type { Command, Option } from './command.ts'
import { printable } from './printable.ts'

const json = ['--json', 'answers JSON on standard output; messages go to standard error'] as const

/** One line per command: fits on one screen of a terminal. */
export function helpOfAll(commands: readonly Command[]): string {
  const rows = commands.map(command => [shortUsage(command), command.does] as const)
  return [
    'dealwright COMMAND [--help]   (without one: serve; settings: docs/operating.md)',
    ...aligned(rows),
  ].join('\n')
}

/** The full help of all commands that begin with one word. */
export function helpOfGroup(group: string, commands: readonly Command[]): string {
  const all = commands.map(command => `${helpOf(command, [])}\n`)
  return [`dealwright ${group} …\n`, ...all, ...aligned([json])].join('\n')
}

export function helpOf(command: Command, more: readonly (readonly [string, string])[] = [json]): string {
  const rows = [
    ...(command.argument ? [[command.argument.name, `the ${command.argument.does}`] as const] : []),
    ...command.options.map(option => [optionUsage(option), option.does] as const),
    ...more,
  ]
  const lines = [usage(command), `  ${command.does}.`]
  if (command.more) lines.push(...folded(command.more, 76).map(line => `  ${line}`))
  return [...lines, ...aligned(rows).map(line => `  ${line}`)].join('\n')
}

/** The table of docs/operating.md (test/cli/arguments.test.ts compares). */
export function reference(commands: readonly Command[]): string {
  const rows = commands.map(command =>
    `| \`${usage(command).replaceAll('|', '\\|')}\` | ${command.does}. ${command.more ?? ''}`.trim(),
  )
  return ['| Command | What it does |', '|---|---|', ...rows.map(row => `${row} |`)].join('\n')
}

function usage(command: Command): string {
  const { name, argument, options } = command
  const texts = options.map(option => {
    const text = option.isNeeded ? optionUsage(option) : `[${optionUsage(option)}]`
    return option.isMany ? `${text}…` : text
  })
  return ['dealwright', name, ...(argument ? [argument.name] : []), ...texts].join(' ')
}

function shortUsage({ name, argument }: Command): string {
  return argument ? `${name} ${argument.name}` : name
}

function optionUsage({ name, short, value }: Option): string {
  const words = short ? `-${short}, --${name}` : `--${name}`
  return value ? `${words} ${value}` : words
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

function folded(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)!
    if (last && last.length + word.length + 1 > width) lines.push(word)
    else lines[lines.length - 1] = last ? `${last} ${word}` : word
  }
  return lines
}

/** A table with headings, for people. */
export function tableOf(
  heads: readonly string[],
  rows: readonly (readonly (string | number | null)[])[],
): string {
  const texts = [heads, ...rows.map(row => row.map(cell => printable(String(cell ?? ''))))]
  const widths = heads.map((_, column) => Math.max(...texts.map(row => row[column]!.length)))
  return texts
    .map(row =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
