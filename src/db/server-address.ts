/** Reads the address of a PostgreSQL server, and connects to it, with TLS where the address asks for it. */
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
  /** the database, and settings of PostgreSQL that the address names */
  readonly settings: Readonly<Record<string, string>>
  /** the server as people read it */
  readonly place: string
  /** Connects to the first host that can be reached. */
  connect(signal: AbortSignal): Promise<Duplex>
}

/**
 * sslmode: no TLS; TLS if the server has it; TLS always; TLS always, with a certificate that proves the host.
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

/** Parameters of an address that other clients read and no server takes. */
const notForTheServer = /^(ssl|gss|keepalives|channel_binding|connect_timeout|target_session_attrs)/

/**
 * Reads postgres://user:password@host:port/database?sslmode=…. Several hosts are separated by commas. The
 * folder of a Unix socket may stand instead of a host, with its slashes as %2F. Throws a StartupError for
 * anything else.
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

/** Throws when TLS is required and the server has none. */
async function offersTls(socket: Socket, tls: Tls): Promise<boolean> {
  socket.write(sslRequest)
  const [answer] = (await once(socket, 'data')) as [Buffer]
  // The answer is one letter. More bytes would come from somebody in between who wants them to be taken for
  // encrypted ones.
  if (answer.toString('latin1') === 'S') return true
  if (answer.toString('latin1') === 'N' && tls === 'preferred') return false
  socket.destroy()
  throw new DatabaseUnavailable('The server has no TLS, which DATABASE_URL asks for')
}
