/** The same SQL under `pgbench -M prepared`: the limit of the database, with a client that does nothing. */
import { writeFileSync } from 'node:fs'
import type { Statement } from './driver.ts'
import { output } from './processes.ts'

export type PgbenchOrders = {
  readonly url: string
  readonly script: string
  readonly clients: number
  readonly seconds: number
  readonly statements: readonly Statement[]
  readonly ids: readonly [from: number, to: number]
  readonly accounts: readonly [from: number, to: number]
}

/** Null if pgbench is not installed. */
export async function pgbench(orders: PgbenchOrders): Promise<{ count: number; seconds: number } | null> {
  const { url, script, clients, seconds, statements, ids, accounts } = orders
  const lines = statements.map(statement => `${literal(statement)};\n`)
  writeFileSync(
    script,
    `\\set id random(${ids.join(', ')})\n\\set account random(${accounts.join(', ')})\n${lines.join('')}`,
  )
  try {
    // On a busy machine a short time may bring no transaction, and then no rate is printed.
    for (let time = Math.max(1, Math.round(seconds)); ; time *= 2) {
      const how = ['-n', '-M', 'prepared', '-c', `${clients}`, '-j', '2', '-T', `${time}`, '-f', script, url]
      const [, perSecond] = /tps = ([\d.]+)/.exec(await output('pgbench', how)) ?? []
      if (perSecond !== undefined) return { count: Number(perSecond) * seconds, seconds }
      if (time > 60) throw new Error(`pgbench carried out no transaction in ${time} seconds`)
    }
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null
    throw error
  }
}

/**
 * A statement with its parameters as literals; ids and accounts stay parameters. pgbench takes every colon
 * and word for a variable, also in a literal: a text with a colon is written in base64 and decoded by
 * immutable functions, which the planner folds into the text.
 */
function literal({ text, params }: Statement): string {
  const filled = text.replace(/'((?:[^']|'')*)'|\$(\d+)/g, (match, inside?: string, number?: string) => {
    if (inside !== undefined) return match.includes(':') ? quoted(inside.replaceAll("''", "'")) : match
    const param = params[Number(number) - 1]!
    if (param === null) return 'NULL'
    return param === '{id}' ? ':id' : param === '{account}' ? ':account' : quoted(param)
  })
  return filled.replaceAll('\n', ' ')
}

function quoted(value: string): string {
  if (!/[:\n\\]/.test(value)) return `'${value.replaceAll("'", "''")}'`
  return `convert_from(decode('${Buffer.from(value).toString('base64')}', 'base64'), 'UTF8')`
}
