/**
 * The content of log lines: where something failed, never the input. PostgreSQL's messages quote values, so
 * they are left out. Headers and bodies are not logged; as a safeguard they are redacted.
 */
import type { LoggerOptions } from 'pino'

const secrets = ['authorization', 'cookie', 'body', 'token', 'secret']

/** Options for pino. */
export const logOptions: LoggerOptions = {
  redact: {
    paths: ['req.headers', 'headers', '*["x-api-key"]', ...secrets.flatMap(name => [name, `*.${name}`])],
    censor: '[not logged]',
  },
  serializers: { err: describeError },
}

/** A short reason for a failure, without values. */
export function reasonOf(error: unknown): string {
  const { name, message, code } = error as Error & { code?: string }
  return name === 'PostgresError' ? `PostgreSQL refused it with ${code}` : `${name}: ${message}`
}

/** An error without the values that it quotes. */
export function describeError(error: unknown): object {
  if (!(error instanceof Error)) return { type: typeof error }
  const { code, constraint_name, table_name, routine } = error as Error & Record<string, unknown>
  const isOfDatabase = error.name === 'PostgresError'
  // The first lines of a stack repeat the message.
  const stack = error.stack
    ?.split('\n')
    .filter(line => /^\s+at /.test(line))
    .join('\n')
  return {
    type: error.name,
    ...(isOfDatabase ? { constraint_name, table_name, routine } : { message: error.message }),
    code,
    stack,
    ...(error.cause ? { cause: describeError(error.cause) } : {}),
  }
}
