/**
 * A proxy to a database that a test can block, cut, and make lose answers, to simulate faults of a network.
 */
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'

export type Proxy = {
  /** The database's address by way of the proxy. */
  readonly url: string
  /** Blocks both directions without refusing: sent bytes wait. */
  block(): void
  unblock(): void
  /** Blocks existing connections; new ones get through. `unblock` ends it. */
  holdBack(): void
  /**
   * From now on answers are lost: statements reach the database, and a moment later their connections are
   * cut.
   */
  loseAnswers(): void
  /** Cuts every connection, and accepts none. */
  cut(): void
  heal(): void
  close(): Promise<void>
}

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target)
  const pairs = new Set<readonly [Socket, Socket]>()
  let mode: 'open' | 'blocked' | 'losing' | 'cut' = 'open'
  const server = createServer(client => {
    if (mode === 'cut') return client.destroy()
    const database = connect(Number(port), hostname)
    const pair = [client, database] as const
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      database.destroy()
    }
    client.on('data', bytes => database.write(bytes))
    database.on('data', bytes => {
      if (mode !== 'losing') client.write(bytes)
      else setTimeout(end, 50)
    })
    for (const socket of pair) socket.on('error', end).on('close', end)
    if (mode === 'blocked') for (const socket of pair) socket.pause()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(target)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  const each = (act: (socket: Socket) => void) => {
    for (const pair of [...pairs]) for (const socket of pair) act(socket)
  }
  const heal = () => {
    mode = 'open'
    each(socket => socket.resume())
  }
  return {
    url: url.href,
    holdBack: () => each(socket => socket.pause()),
    block: () => {
      mode = 'blocked'
      each(socket => socket.pause())
    },
    unblock: heal,
    loseAnswers: () => {
      mode = 'losing'
    },
    cut: () => {
      mode = 'cut'
      each(socket => socket.destroy())
    },
    heal,
    close: async () => {
      each(socket => socket.destroy())
      await new Promise(resolve => server.close(resolve))
    },
  }
}
