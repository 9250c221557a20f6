/** PgBouncer in transaction mode, in front of a server for tests. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../src/http/free-port.ts'
import { answers, end, serverAccount } from './postgres.ts'

/** Its address for the database of `url`, and its ends. */
export type TestPooler = {
  readonly url: string
  stop(): Promise<void>
  kill9(): Promise<void>
  /** Starts it again after it was killed, on the same port. */
  restart(): Promise<void>
}

/** The version of PgBouncer on this machine; null if there is none. */
export function poolerVersion(): string | null {
  try {
    return /PgBouncer (\S+)/.exec(execFileSync('pgbouncer', ['--version'], { encoding: 'utf8' }))![1]!
  } catch {
    return null
  }
}

/** Starts it with `connections` connections to each database. */
export async function startPooler(url: string, connections: number): Promise<TestPooler> {
  const server = new URL(url)
  const account = serverAccount()!
  const [home, port] = [mkdtempSync(join(tmpdir(), 'dealwright-pooler-')), await freePort()]
  const [settings, users] = [join(home, 'pgbouncer.ini'), join(home, 'users')]
  writeFileSync(users, '"postgres" ""\n')
  writeFileSync(
    settings,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${connections}
max_client_conn = 200
`,
  )
  chmodSync(home, 0o700)
  if (account.uid !== undefined)
    for (const path of [home, settings, users]) chownSync(path, account.uid, account.gid!)
  server.port = `${port}`
  const run = async () => {
    const started = spawn('pgbouncer', ['--quiet', settings], { ...account, cwd: home, stdio: 'ignore' })
    await answers(server.href, started)
    return started
  }
  let pooler = await run()
  const abandon = () => pooler.kill('SIGKILL')
  process.once('exit', abandon)
  return {
    url: server.href,
    async stop() {
      process.off('exit', abandon)
      await end(pooler, 'SIGINT')
      rmSync(home, { recursive: true, force: true })
    },
    kill9: () => end(pooler, 'SIGKILL'),
    async restart() {
      pooler = await run()
    },
  }
}
