/**
 * How a PostgreSQL server is reached: what its address says, and a connection to it, with TLS where the
 * address asks for it.
 */
import { once } from 'node:events'
import { connect as connectSocket, isIP, type Socket } from 'node:net'
import { userInfo } from 'node:os'
import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { StartupError } from './startup-error.ts'
import { DatabaseUnavailable } from './unavailable.ts'

export type ServerAddress = {
  readonly user: string
  readonly password: string
  /** the database, and parameters of PostgreSQL that the address names */
  readonly settings: Readonly<Record<string, string>>
  /** for people */
  readonly place: string
  /** Connects, to the first of several hosts that can be reached. */
  connect(signal: AbortSignal): Promise<Duplex>
}

/**
 * How far TLS goes: not at all; where the server has it; always; always, and with a certificate that proves
 * the host.
 */
type Tls = 'off' | 'preferred' | 'on' | 'verified'

const tlsOf: { readonly [sslmode: string]: Tls } = {
  disable: 'off',
  false: 'off',
  allow: 'preferred',
  prefer: 'preferred',
  require: 'on',
  'verify-ca': 'verified',
  'verify-full': 'verified',
  true: 'verified',
}

/** What others' clients read in an address, and no server takes. */
const notForTheServer = /^(ssl|gss|keepalives|channel_binding|connect_timeout|target_session_attrs)/

/**
 * Reads postgres://user:password@host:port/database?sslmode=…; several hosts are separated by commas, and the
 * path of a Unix socket's folder stands in the place of a host with its slashes as %2F. Throws a StartupError
 * where it is none of these.
 */
export function serverAddress(url: string): ServerAddress {
  const { username, password, hosts, port, path, parameters } = read(url)
  const mode = parameters.sslmode ?? parameters.ssl ?? 'disable'
  const tls = tlsOf[mode]
  if (!tls)
    throw new StartupError(`DATABASE_URL has sslmode=${mode}; it can be ${Object.keys(tlsOf).join(', ')}`)
  const isDirect = parameters.sslnegotiation === 'direct'
  const user = username || userInfo().username
  const database = path || user
  return {
    user,
    password,
    settings: {
      database,
      ...Object.fromEntries(Object.entries(parameters).filter(([name]) => !notForTheServer.test(name))),
    },
    place: `PostgreSQL at ${hosts.map(host => `${host}:${port}`).join(', ')}, database ${database}`,
    async connect(signal) {
      let failure: unknown
      for (const host of hosts) {
        try {
          return await connectTo(host, port, tls, isDirect, signal)
        } catch (error) {
          failure = error
        }
      }
      throw failure
    },
  }
}

function read(url: string) {
  try {
    const { username, password, hostname, port, pathname, searchParams } = new URL(url)
    return {
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      hosts: decodeURIComponent(hostname || 'localhost').split(','),
      port: Number(port || 5432),
      path: decodeURIComponent(pathname.slice(1)),
      parameters: Object.fromEntries(searchParams),
    }
  } catch (error) {
    throw new StartupError(
      'DATABASE_URL is not an address of the form postgres://user:password@host:port/database',
      {
        cause: error,
      },
    )
  }
}

async function connectTo(
  name: string,
  port: number,
  tls: Tls,
  isDirect: boolean,
  signal: AbortSignal,
): Promise<Duplex> {
  if (name.startsWith('/')) return connected(connectSocket({ path: `${name}/.s.PGSQL.${port}`, signal }))
  const host = name.replace(/^\[|\]$/g, '')
  const socket = await connected(
    connectSocket({ host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: 60_000, signal }),
  )
  if (tls === 'off' || (!isDirect && !(await offersTls(socket, tls)))) return socket
  const secured = connectTls({
    socket,
    rejectUnauthorized: tls === 'verified',
    ...(isIP(host) ? {} : { servername: host }),
    ...(isDirect ? { ALPNProtocols: ['postgresql'] } : {}),
  })
  await once(secured, 'secureConnect')
  return secured
}

async function connected(socket: Socket): Promise<Socket> {
  await once(socket, 'connect')
  return socket
}

const sslRequest = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f])

/** Throws where TLS is a must and there is none. */
async function offersTls(socket: Socket, tls: Tls): Promise<boolean> {
  socket.write(sslRequest)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  // More than the one letter would be from somebody in between, to be taken for what comes encrypted.
  if (answer.toString('latin1') === 'S') return true
  if (answer.toString('latin1') === 'N' && tls === 'preferred') return false
  socket.destroy()
  throw new DatabaseUnavailable('The server has no TLS, which DATABASE_URL asks for')
}
