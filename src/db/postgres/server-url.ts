/**
 * Reads DATABASE_URL as libpq does (D142; PostgreSQL, "Connection URIs"). Refuses parameters that this client
 * lacks and unknown ones. No message repeats a part of the address that may belong to the password.
 */
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { suggestion } from '../../fields/nearest.ts'
import { StartupError } from '../startup-error.ts'
import type { GreetingOptions } from './greeting.ts'

export type Host = { readonly name: string; readonly port: number }

/** How a connection is secured. */
export type Tls = {
  /** no TLS; TLS if the server has it; TLS always */
  readonly use: 'off' | 'preferred' | 'always'
  /** what the server's certificate has to prove: nothing, its issuer, or its host as well */
  readonly proves: 'nothing' | 'issuer' | 'host'
  /** True if TLS begins at once, without asking the server (PostgreSQL 17) */
  readonly isDirect: boolean
  /** certificates as PEM: of those who issue the server's, and the client's own with its key */
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export type ServerUrl = {
  readonly user: string
  readonly password: string
  readonly database: string
  readonly hosts: readonly Host[]
  readonly tls: Tls
  /** time limit of connecting; null: none */
  readonly connectWithinMs: number | null
  readonly channelBinding: GreetingOptions['channelBinding']
  /** the wanted kind of host */
  readonly target: GreetingOptions['target']
  /** parameters of the startup message */
  readonly settings: { readonly [name: string]: string }
}

const modes: { readonly [sslmode: string]: Pick<Tls, 'use' | 'proves'> } = {
  disable: { use: 'off', proves: 'nothing' },
  allow: { use: 'preferred', proves: 'nothing' },
  prefer: { use: 'preferred', proves: 'nothing' },
  require: { use: 'always', proves: 'nothing' },
  'verify-ca': { use: 'always', proves: 'issuer' },
  'verify-full': { use: 'always', proves: 'host' },
}

/** Parameters of libpq for which this client supports only these values. */
const onlyValues: { readonly [name: string]: readonly string[] } = {
  sslmode: Object.keys(modes),
  sslnegotiation: ['postgres', 'direct'],
  channel_binding: ['prefer', 'disable', 'require'],
  gssencmode: ['prefer', 'disable'],
  keepalives: ['1'],
  load_balance_hosts: ['disable'],
  target_session_attrs: ['any', 'read-write', 'primary'],
}
const forServer = ['application_name', 'options']
const known = [
  ...'host port dbname user password connect_timeout sslrootcert sslcert sslkey'.split(' '),
  ...Object.keys(onlyValues),
  ...forServer,
]

/**
 * Reads postgres://user:password@host:port,host:port/database?name=value. Throws a StartupError for anything
 * that it can't read or use, and for a file of certificates that can't be read.
 */
export function readServerUrl(url: string): ServerUrl {
  const [, rest = '', query = ''] = /^postgres(?:ql)?:\/\/([^?]*)(?:\?(.*))?$/s.exec(url) ?? refuseForm()
  const given = parametersOf(query)
  const [authority = '', path = '', ...more] = rest.split('/')
  const [login = '', place, ...others] = authority.includes('@') ? authority.split('@') : ['', authority]
  if (more.length > 0 || others.length > 0 || path.includes('@')) refuseForm()
  const [user = '', ...secret] = login.split(':')
  const name = given.user ?? decoded(user) ?? ''
  const own = name || userInfo().username
  return {
    user: own,
    password: given.password ?? decoded(secret.join(':')),
    database: (given.dbname ?? decoded(path)) || own,
    hosts: hostsOf(place ?? '', given),
    tls: tlsOf(given),
    connectWithinMs: timeoutOf(given.connect_timeout),
    channelBinding: (given.channel_binding ?? 'prefer') as ServerUrl['channelBinding'],
    target: (given.target_session_attrs ?? 'any') as ServerUrl['target'],
    settings: Object.fromEntries(forServer.flatMap(one => (given[one] ? [[one, given[one]]] : []))),
  }
}

/** Reads an address of another setting: the messages of its StartupErrors have that name. */
export function namingSetting<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof StartupError)) throw error
    throw new StartupError(error.message.replaceAll('DATABASE_URL', name), { cause: error })
  }
}

type UrlParameters = { readonly [name: string]: string }

function parametersOf(query: string): UrlParameters {
  const given: Record<string, string> = {}
  // A ? of the password that is not escaped as %3F.
  if (query.includes('@')) refuseForm()
  for (const pair of query.split('&').filter(Boolean)) {
    const [name = '', value, ...more] = pair.split('=').map(decoded)
    if (value === undefined || more.length > 0) refuseForm()
    // The spelling of JDBC.
    const [said, as] = name === 'ssl' && value === 'true' ? ['sslmode', 'require'] : [name, value]
    if (said in given) throw new StartupError(`DATABASE_URL has the parameter ${said} twice.`)
    given[checked(said, as)] = as
  }
  return given
}

/** The name of a known parameter with an accepted value. */
function checked(name: string, value: string): string {
  if (!known.includes(name)) {
    const all = `It can have ${known.join(', ')}; settings of PostgreSQL go into options=-c%20name%3Dvalue.`
    throw new StartupError(
      `DATABASE_URL has the parameter "${name}", which is not known here. ${suggestion(name, known, all)}`,
    )
  }
  const values = onlyValues[name]
  if (values && !values.includes(value))
    throw new StartupError(`DATABASE_URL has ${name}=${value}; here it can be ${values.join(', ')}.`)
  return name
}

/** The hosts of the address, or those of `host` and `port`, which override it. */
function hostsOf(place: string, given: UrlParameters): Host[] {
  const parts = place.split(',').map(one => /^(\[[^\]]*\]|[^:[\]]*)(?::([^:]*))?$/.exec(one) ?? refuseForm())
  const names = given.host?.split(',') ?? parts.map(([, name = '']) => decoded(name))
  const ports = given.port?.split(',') ?? parts.map(([, , port = '']) => port)
  if (ports.length > 1 && ports.length !== names.length)
    throw new StartupError('DATABASE_URL needs one port, or as many as it has hosts.')
  return names.map((name, index) => ({
    name: name.replace(/^\[|\]$/g, '') || 'localhost',
    port: portOf(ports[index] ?? ports[0]!),
  }))
}

function portOf(text: string): number {
  const port = text === '' ? 5432 : /^\d{1,5}$/.test(text) ? Number(text) : 0
  return port >= 1 && port <= 65_535 ? port : refuseForm()
}

function tlsOf(given: UrlParameters): Tls {
  const { sslrootcert, sslcert, sslkey, sslnegotiation } = given
  const isSystem = sslrootcert === 'system'
  const { sslmode = isSystem ? 'verify-full' : 'disable' } = given
  const mode = modes[sslmode]!
  if (!sslcert !== !sslkey) throw new StartupError('DATABASE_URL needs both sslcert and sslkey, or neither.')
  if (mode.use === 'off' && (sslrootcert ?? sslcert))
    throw new StartupError('DATABASE_URL names certificates, but asks for no TLS: add sslmode=verify-full.')
  // Anybody can have a certificate of a public issuer.
  if (isSystem && mode.proves !== 'host')
    throw new StartupError('DATABASE_URL has sslrootcert=system, which needs sslmode=verify-full.')
  const needing = Object.entries({ channel_binding: 'require', sslnegotiation: 'direct' })
  const needsTls = mode.use === 'always' ? undefined : needing.find(([name, value]) => given[name] === value)
  if (needsTls)
    throw new StartupError(`DATABASE_URL asks for ${needsTls[0]}, but not for TLS: add sslmode=verify-full.`)
  return {
    ...mode,
    // Naming the issuer asks for its verification, as in libpq.
    ...(sslrootcert && mode.proves === 'nothing' && { use: 'always', proves: 'issuer' }),
    isDirect: sslnegotiation === 'direct',
    ...(sslrootcert && !isSystem && { ca: pem('sslrootcert', sslrootcert) }),
    ...(sslcert && { cert: pem('sslcert', sslcert) }),
    ...(sslkey && { key: pem('sslkey', sslkey) }),
  }
}

function pem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code
    throw new StartupError(`DATABASE_URL names ${path} as ${name}, which can't be read (${why}).`)
  }
}

/** Seconds, as milliseconds; 0 means no limit, as in libpq. */
function timeoutOf(seconds = '5'): number | null {
  if (!/^\d{1,6}$/.test(seconds))
    throw new StartupError('DATABASE_URL needs a whole number of seconds as connect_timeout.')
  return Number(seconds) * 1000 || null
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuseForm()
  }
}

function refuseForm(): never {
  throw new StartupError(
    'DATABASE_URL is not an address of the form postgres://user:password@host:port/database. In a user or ' +
      'password, @ is written %40, / %2F, : %3A, ? %3F and % %25.',
  )
}
