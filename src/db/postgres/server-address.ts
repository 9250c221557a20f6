/** Connects to a PostgreSQL server, with TLS where its address asks for it. */
import { once } from 'node:events'
import { connect as connectSocket, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import { StartupError } from '../startup-error.ts'
import { DatabaseUnavailable } from '../unavailable.ts'
import type { Connect, ConnectionOptions } from './connection-options.ts'
import type { GreetingOptions } from './greeting.ts'
import { type Host, readServerUrl, type Tls } from './server-url.ts'

export type ServerAddress = GreetingOptions &
  Pick<ConnectionOptions, 'servers'> & {
    /** time limit of connecting; null: none */
    readonly connectWithinMs: number | null
    /** the server in messages */
    readonly place: string
  }

/** The servers of DATABASE_URL. Throws a StartupError for an address that can't be read (server-url.ts). */
export function serverAddress(url: string): ServerAddress {
  const { database, hosts, tls, settings, ...rest } = readServerUrl(url)
  const secureContext = contextOf(tls)
  return {
    ...rest,
    settings: { database, ...settings },
    place: `PostgreSQL at ${hosts.map(({ name, port }) => `${name}:${port}`).join(', ')}, database ${database}`,
    servers: hosts.map(
      (host): Connect =>
        signal =>
          connectTo(host, tls, secureContext, signal),
    ),
  }
}

function contextOf({ ca, cert, key }: Tls): SecureContext {
  try {
    return createSecureContext({ ca, cert, key })
  } catch (error) {
    const why = (error as Error).message
    throw new StartupError(`The certificates that DATABASE_URL names can't be used: ${why}.`, {
      cause: error,
    })
  }
}

async function connectTo(
  { name, port }: Host,
  { use, proves, isDirect }: Tls,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<Duplex> {
  if (name.startsWith('/')) return connected(connectSocket({ path: `${name}/.s.PGSQL.${port}`, signal }))
  const keepAlive = { keepAlive: true, keepAliveInitialDelay: 60_000 }
  const socket = await connected(connectSocket({ host: name, port, noDelay: true, ...keepAlive, signal }))
  if (use === 'off' || (!isDirect && !(await offersTls(socket, use)))) return socket
  const secured = connectTls({
    socket,
    secureContext,
    rejectUnauthorized: proves !== 'nothing',
    // For an IP address, too, which can't be a TLS server name.
    checkServerIdentity: (_, certificate) =>
      proves === 'host' ? checkServerIdentity(name, certificate) : undefined,
    ...(isIP(name) ? {} : { servername: name }),
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
async function offersTls(socket: Socket, use: Tls['use']): Promise<boolean> {
  socket.write(sslRequest)
  const closed = once(socket, 'close').then(() => {
    throw new DatabaseUnavailable('The server closed the connection before it was encrypted')
  })
  const [answer] = (await Promise.race([once(socket, 'data'), closed])) as [Buffer]
  // The answer is one letter. More bytes would come from a man-in-the-middle who wants them to be taken for
  // encrypted ones.
  if (answer.toString('latin1') === 'S') return true
  if (answer.toString('latin1') === 'N' && use === 'preferred') return false
  socket.destroy()
  throw new DatabaseUnavailable('The server has no TLS, which DATABASE_URL asks for')
}
