/** The text for the terminal when the service is ready. */
import { basename } from 'node:path'
import type { FirstStartResult } from './accounts/first-start.ts'
import type { Config } from './config.ts'
import { serverAddress } from './db/postgres/server-address.ts'

export type Ready = FirstStartResult & {
  readonly url: string
  /** link that signs in once, for ten minutes; null if other machines reach the service */
  readonly signIn: string | null
  /** duration of the start */
  readonly seconds: number
}

type Welcome = Ready & {
  readonly config: Config
  /** where the metrics are; null without them */
  readonly metricsAt: string | null
}

/** The text for the terminal; `isJson`: for a program. */
export function welcome(start: Welcome, isJson: boolean): string {
  return isJson ? jsonWelcome(start) : textWelcome(start)
}

/** Only the start that made a token shows it (D68, D119). */
function textWelcome(start: Welcome): string {
  const { url, signIn, token, keptIn, isPresetInvalid, metricsAt, config, seconds } = start
  const kept = keptIn && `kept in ${keptIn}`
  const lost = `none is kept here; "${program()} token create" makes one`
  const preset = isPresetInvalid
    ? 'DEALWRIGHT_TOKEN is of account 1, which was deleted: it is not valid'
    : 'the one in DEALWRIGHT_TOKEN'
  const shell = config.token ? '$DEALWRIGHT_TOKEN' : keptIn ? `$(cat '${keptIn}')` : '$TOKEN'
  return [
    '',
    `  Dealwright is ready at ${url} (${token ? 'first start' : 'start'} in ${seconds.toFixed(1)} s)`,
    '',
    ...(signIn ? [`  Sign in ${signIn}`, '          once, within ten minutes', ''] : []),
    `  Token   ${token ?? (config.token ? preset : (kept ?? lost))}`,
    ...(token && kept ? [`          ${kept}`] : []),
    `  Lost?   "${program()} token create --help": who may run the service can make another`,
    `  Data    ${placeOf(config)}`,
    ...(metricsAt ? [`  Metrics ${metricsAt}`] : []),
    '  Stop    Ctrl+C',
    '',
    `  Try     curl -H "Authorization: Bearer ${shell}" "${url}/rest/api/v1/deal/view/list?pageSize=3"`,
    '',
  ].join('\n')
}

/** The command line of the program that runs: by npm, by an installed release, or by Node.js. */
function program(): string {
  const path = process.argv[1] ?? 'bin/dealwright.js'
  if (process.env.npm_execpath) return 'npx dealwright'
  return basename(path) === 'dealwright' ? 'dealwright' : `node ${path}`
}

function jsonWelcome({ url, signIn, token, keptIn, metricsAt, config }: Welcome): string {
  return JSON.stringify({
    url,
    sign_in: signIn,
    token,
    token_kept_in: keptIn,
    data: placeOf(config),
    metrics: metricsAt,
  })
}

function placeOf({ databaseUrl, dataDir }: Config): string {
  return databaseUrl ? serverAddress(databaseUrl).place : `${dataDir}, embedded PostgreSQL`
}
