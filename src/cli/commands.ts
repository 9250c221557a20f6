/**
 * The table of commands (D67): name, arguments and function of each. The help, the checks of arguments and
 * the page in docs/operating.md are generated from it. main.ts starts the service itself.
 */
import { loadCatalog } from '../accounts/callers.ts'
import { backup, type CommandOptions, restore } from '../backup/command.ts'
import { exportAccount } from '../backup/export.ts'
import { progress } from '../backup/progress.ts'
import { migrate } from '../db/migrate.ts'
import { typesOf } from '../http/openapi/typescript.ts'
import { resources } from '../resources/resources.ts'
import { accountOption, findAccount } from './account-selector.ts'
import * as accounts from './accounts.ts'
import { check, inspect } from './check.ts'
import type { Command, CommandArguments, Option, Terminal } from './command.ts'
import { onDatabase } from './database.ts'
import { distribute } from './distribute.ts'
import { exportRecords } from './export.ts'
import { importFile, importGiven } from './import.ts'
import { mcp } from './mcp.ts'
import * as cluster from './nodes.ts'
import { pageOfEvents, tail } from './tail.ts'
import * as tokens from './tokens.ts'
import { checkUpgrade } from './upgrade.ts'
import * as users from './users.ts'

const which = { ...accountOption, isNeeded: true, does: 'which account' } as const
const byId: Option = { name: 'account', value: 'ID', does: 'which account', isNeeded: true }
const user: Option = { name: 'user', value: 'ID|E-MAIL', does: 'which user', isNeeded: true }
const file = { name: 'FILE', does: 'name of a file' }

export const commands: readonly Command[] = [
  { name: 'serve', does: 'starts the service', options: [] },
  {
    name: 'check',
    does: 'looks for what is wrong: settings, database, accounts',
    more: 'The exit code is 1 when something is wrong. Nothing is changed.',
    options: [{ name: 'database', does: 'also reads all rows, and checks keys, references and indexes' }],
    isForAnySchema: true,
    act: inspect,
    carryOut: (terminal, given) => check(commands.find(({ name }) => name === 'check')!, terminal, given),
  },
  {
    name: 'migrate',
    does: 'brings the schema of the database up to date',
    more: 'Every start does so too.',
    options: [],
    isForAnySchema: true,
    act: async db => {
      const { applied, version } = await migrate(db)
      const done = applied.length ? `Applied ${applied.length} migrations` : 'There was nothing to apply'
      return { text: `${done}; the schema has version ${version}.`, data: { applied, version } }
    },
  },
  {
    name: 'distribute',
    does: 'distributes the database over a Citus cluster, by account',
    more: 'Stop the service first. Each account is on one node, with all of its rows. What is distributed already stays so.',
    options: [{ name: 'shards', value: 'COUNT', does: 'number of shards; default: 32' }],
    act: distribute,
  },
  { name: 'nodes', does: 'lists the nodes of a Citus cluster', options: [], act: cluster.nodes },
  {
    name: 'upgrade',
    does: 'tells what a start would change in the database',
    more: 'It names the migrations and the size of their tables, says whether older processes may run on, and changes nothing. Stop a service with an embedded database first.',
    options: [
      { name: 'check', does: 'only tells; "dealwright migrate" or a start upgrades', isNeeded: true },
    ],
    carryOut: checkUpgrade,
  },
  {
    name: 'backup',
    does: 'writes the database to a new file, in use or not',
    argument: file,
    options: [],
    carryOut: (terminal, args) => backup(filed(terminal, args)),
  },
  {
    name: 'restore',
    does: 'loads a backup file into an empty database',
    argument: file,
    options: [],
    carryOut: (terminal, args) => restore(filed(terminal, args)),
  },
  {
    name: 'sample-data',
    does: 'gives an account sample data, if it has no records yet',
    more: 'Requests to an embedded database wait meanwhile, for some seconds.',
    options: [accountOption],
    act: accounts.sampleData,
  },
  {
    name: 'account create',
    does: 'makes an account, its owner and an admin token',
    more: 'The token is shown once.',
    options: [
      { name: 'name', value: 'NAME', does: 'what the account is called', isNeeded: true },
      { name: 'owner-name', value: 'NAME', does: 'the name of the user who administers it', isNeeded: true },
      { name: 'owner-email', value: 'E-MAIL', does: "that user's e-mail", isNeeded: true },
      { name: 'time-zone', value: 'ZONE', does: 'time zone, such as Europe/Paris; default: UTC' },
      { name: 'base-currency', value: 'CODE', does: 'base currency, such as EUR; default: USD' },
    ],
    act: accounts.create,
  },
  { name: 'account list', does: 'lists all accounts', options: [], act: accounts.list },
  {
    name: 'account rename',
    does: 'gives an account another name',
    options: [which, { name: 'name', value: 'NAME', does: 'the new name', isNeeded: true }],
    act: accounts.rename,
  },
  {
    name: 'account settings',
    does: 'tells the settings of an account, or changes them',
    more: 'With another base currency, all rates are converted by its own, and amounts are worked out anew.',
    options: [
      accountOption,
      { name: 'time-zone', value: 'ZONE', does: 'time zone, such as Europe/Paris' },
      { name: 'locale', value: 'TAG', does: 'how dates and numbers are shown, such as de-CH' },
      { name: 'base-currency', value: 'CODE', does: 'base currency, such as EUR; it needs a rate first' },
    ],
    act: accounts.settings,
  },
  {
    name: 'account delete',
    does: 'deletes an account; it can be brought back for a while',
    more:
      'Its tokens and sessions are refused within a second. After RETENTION_DAYS all of its rows are removed. ' +
      'The only account in use stays.',
    options: [
      which,
      { name: 'name', value: 'NAME', does: 'its name, to be sure that it is the right one' },
      { name: 'yes', does: 'deletes it without that' },
    ],
    asks: { option: 'name', question: 'Type the name of the account to delete it: ' },
    act: accounts.remove,
  },
  {
    name: 'account restore',
    does: 'brings a deleted account back, with its tokens',
    options: [accountOption],
    act: accounts.restore,
  },
  {
    name: 'account place',
    does: 'says on which node of a Citus cluster an account is',
    options: [byId],
    act: cluster.place,
  },
  {
    name: 'account move',
    does: 'moves an account to another node of a Citus cluster',
    more: 'The service may run. A shard that it shares with others is split first; their writes wait meanwhile.',
    options: [
      byId,
      { name: 'to', value: 'NODE', does: 'the node, as "dealwright nodes" names it', isNeeded: true },
    ],
    act: cluster.move,
  },
  {
    name: 'account export',
    does: "writes an account's rows to a new file, for the customer",
    more: 'The file is JSON lines, compressed by gzip. Hashes of secrets are left out.',
    argument: file,
    options: [accountOption],
    carryOut: (terminal, args) => exportAccount(filed(terminal, args), db => findAccount(db, args, 'any')),
  },
  {
    name: 'export',
    does: 'writes the records of a resource to a new file',
    more: 'Without a file, to standard output. They are those that a list finds with the same filter and sort, as of one moment.',
    options: [
      accountOption,
      { name: 'resource', value: 'NAME', does: 'which records, such as deal', isNeeded: true },
      { name: 'format', value: 'csv|jsonl|xlsx', does: 'default: by the extension of the file, else csv' },
      { name: 'filter', value: 'FILTER', does: 'only these, such as "status:eq(Open)"' },
      { name: 'sort', value: 'SORT', does: 'their order, such as created_at:desc' },
      { name: 'fields', value: 'A,B', does: 'only these fields' },
      { name: 'names', does: 'names instead of ids' },
      { name: 'output', short: 'o', value: 'FILE', does: 'a new file; default: standard output' },
    ],
    carryOut: exportRecords,
  },
  {
    name: 'import',
    does: 'imports records from a file: CSV, JSON lines or XLSX',
    more: 'Columns are mapped to fields by a guess, or by --map: {"Name of a column": "field"}, or the body of PATCH /import/{id}. It prints the mapping, and stops with exit code 3 if a column is not sure. Refused rows can be written to a file.',
    argument: file,
    options: [
      accountOption,
      { ...user, does: 'the user who imports' },
      { name: 'resource', value: 'NAME', does: 'the record type of the rows, such as deal', isNeeded: true },
      { name: 'format', value: 'csv|jsonl|xlsx', does: 'default: by the extension of the file' },
      { name: 'encoding', value: 'NAME', does: 'text encoding of CSV and JSON lines, such as windows-1252' },
      { name: 'delimiter', value: 'SIGN', does: 'delimiter of CSV' },
      { name: 'sheet', value: 'NAME', does: 'sheet of a workbook' },
      { name: 'header', value: 'LINE', does: 'line of the header row; 0: no header row' },
      { name: 'map', value: 'FILE', does: 'mapping of columns to fields, as JSON' },
      { name: 'leave-out', value: 'NAME', isMany: true, does: 'leaves a column out' },
      { name: 'yes', does: 'accepts the guesses, and leaves out columns without one' },
      { name: 'errors', value: 'FILE', does: 'a new file for the refused rows, with the reasons' },
      { name: 'dry-run', does: 'tries everything and saves nothing' },
    ],
    act: importFile,
    carryOut: (terminal, args) =>
      onDatabase(commands.find(({ name }) => name === 'import')!, importGiven(args), terminal),
  },
  {
    name: 'tail',
    does: "prints an account's events as they come: who changed what",
    more: 'Begins with the last ten, or after the one that is given. With --json each event is a line of JSON.',
    options: [
      accountOption,
      { name: 'after', value: 'SEQ', does: 'the number of the event after which to begin' },
      { name: 'resource', value: 'A,B', does: 'only events of these, such as deal,contact' },
      { name: 'type', value: 'A,B', does: 'only events of these types, such as deal.won' },
    ],
    act: pageOfEvents,
    carryOut: tail,
  },
  {
    name: 'mcp',
    does: 'gives an agent on this machine the tools of a service',
    more: 'It speaks the Model Context Protocol over standard input and output. DEALWRIGHT_AGENT_TOKEN is a token for it.',
    options: [
      { name: 'url', value: 'URL', does: 'where the service is, if not at HOST and PORT of this machine' },
    ],
    carryOut: mcp,
  },
  {
    name: 'types',
    does: "prints an account's fields as TypeScript",
    more: 'They are for the client package. For example: dealwright types > schemas.ts, then new Dealwright<Schemas>(…).',
    options: [accountOption],
    act: async (db, args) => {
      const { id } = await findAccount(db, args)
      const types = typesOf(await loadCatalog(db, resources, id))
      return { text: types.trimEnd(), data: { types } }
    },
  },
  {
    name: 'token create',
    does: 'makes a token for a user',
    more: 'It is shown once. It may do what its scopes and the role of the user both allow.',
    options: [
      accountOption,
      user,
      { name: 'name', value: 'NAME', does: 'what it is for', isNeeded: true },
      {
        name: 'scopes',
        value: 'A,B',
        does: 'what it may do, such as deal:read,deal:write or admin',
        isNeeded: true,
      },
      { name: 'expires', value: 'WHEN', does: 'when it ends: 90d, 2027-01-31 or 2027-01-31T12:00:00Z' },
    ],
    act: tokens.create,
  },
  {
    name: 'token list',
    does: 'lists the tokens of an account',
    more: 'AGENT names the program that uses one as an agent.',
    options: [accountOption],
    act: tokens.list,
  },
  {
    name: 'token revoke',
    does: 'ends a token for good',
    argument: { name: 'ID', does: 'id of the token, from "dealwright token list"' },
    options: [accountOption],
    act: tokens.revoke,
  },
  {
    name: 'user invite',
    does: 'makes a user, and a link with which they set a password',
    more: 'The link is shown once and valid for 7 days. A user who is there already gets another link.',
    options: [
      accountOption,
      { name: 'email', value: 'E-MAIL', does: 'their e-mail', isNeeded: true },
      { name: 'name', value: 'NAME', does: 'their name; needed for a new user' },
      { name: 'role', value: 'ROLE', does: 'the name or id of their role; default: Member' },
    ],
    act: users.invite,
  },
  {
    name: 'user reset',
    does: 'makes a link for a user who has lost their password',
    more: 'It is shown once and valid for an hour.',
    options: [accountOption, user],
    act: users.reset,
  },
]

function filed({ config, now, say, signal }: Terminal, { FILE }: CommandArguments): CommandOptions {
  return { location: config, file: FILE!, now, progress: progress(), log: say, signal }
}
