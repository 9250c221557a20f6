/** The command line's arguments and help, generated from the table of commands (D67). */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type ParsedCommandLine, understand } from '../../src/cli/arguments.ts'
import { commands } from '../../src/cli/commands.ts'
import { helpOfAll, reference } from '../../src/cli/help.ts'

const asked = (line: string) => understand(line.split(' ').filter(Boolean), commands)
const said = (one: ParsedCommandLine) =>
  'misuse' in one ? one.misuse : 'help' in one ? 'help' : [one.command.name, one.given, one.isJson]

test('what is asked for', () => {
  for (const [line, expected] of [
    ['', ['serve', {}, false]],
    ['serve', ['serve', {}, false]],
    ['--json', ['serve', {}, true]],
    ['--json account list', ['account list', {}, true]],
    ['backup a.gz', ['backup', { FILE: 'a.gz' }, false]],
    ['token revoke --account 2 7 --json', ['token revoke', { account: '2', ID: '7' }, true]],
    ['account rename --account=2 --name Two', ['account rename', { account: '2', name: 'Two' }, false]],
    ['account delete --account 2 --yes', ['account delete', { account: '2', yes: 'yes' }, false]],
    ['--help', 'help'],
    ['-h', 'help'],
    ['help', 'help'],
    ['account --help', 'help'],
    ['account rename --help', 'help'],
  ] as const)
    assert.deepEqual(said(asked(line)), expected, line)
})

test('what makes no sense is said in one line, with the nearest name', () => {
  for (const [line, expected] of [
    ['bakup a', /^There is no command "bakup"; did you mean "backup"\? Or see "dealwright --help"\.$/],
    [
      'account',
      /^"dealwright account" needs one of create, list, rename, .*; see "dealwright account --help"\.$/,
    ],
    ['account lst', /^There is no command "account lst"; did you mean "list"\?/],
    ['account list --jsn', /has no option --jsn; did you mean "--json"\?/],
    ['account list all', /^"all" is one argument too many/],
    ['token create --user 1', /^"dealwright token create" needs --name and --scopes; see/],
    ['token create --user --name x', /^--user needs a value \(ID\|E-MAIL\)/],
    ['token list --account 1 --account 2', /^--account is given twice/],
    ['account delete --account 2 --yes=no', /^--yes takes no value/],
    ['backup', /needs the name of a file/],
    ['constructor', /^There is no command "constructor"/],
    ['serve now', /^There is no command "now"/],
  ] as const)
    assert.match(String(said(asked(line))), expected, line)
})

test('the help fits a page of a terminal, and names every command', () => {
  const lines = helpOfAll(commands).split('\n')
  assert.ok(lines.length <= 30, `${lines.length} lines`)
  assert.deepEqual(
    lines.filter(line => line.length > 80),
    [],
  )
  for (const { name } of commands)
    assert.ok(
      lines.some(line => line.startsWith(`  ${name}`)),
      name,
    )
})

test('docs/operating.md has the table of commands', () => {
  assert.ok(readFileSync('docs/operating.md', 'utf8').includes(reference(commands)), reference(commands))
})
