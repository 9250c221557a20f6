/**
 * `npm run bench:idle [-- --accounts 1000 --seconds 60 --calm 35]`: the number of statements that accounts
 * cost in which nothing happens, as PostgreSQL counts them (pg_stat_statements): the hourly round over all of
 * them, which a start begins with, and each minute after it.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createAccount } from '../src/accounts/create.ts'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { ownDirectory, sayMachine } from './begin.ts'
import { startService } from './processes.ts'
import { onCountingServer, statementsOf } from './statements.ts'

const { values } = parseArgs({
  options: {
    accounts: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
    calm: { type: 'string', default: '35' },
  },
})
const [accounts, seconds] = [Number(values.accounts), Number(values.seconds)]
/** The round is over after so many seconds with hardly a statement; tables are looked at for 30 of them. */
const calmSeconds = Number(values.calm)

sayMachine()
await onCountingServer(measure)

async function measure(url: string): Promise<void> {
  const db = await openDatabase({ url, ...timeouts(600_000), log: line => console.error(line) })
  await migrate(db)
  await firstStart(db, { now: new Date(), sampleData: false, createSample })
  for (let count = 2; count <= accounts; count++)
    await createAccount(db, { name: `Account ${count}`, ownerName: 'Owner', ownerEmail: 'o@example.com' })
  await db.close()
  const env = { DATABASE_URL: url, DATA_DIR: ownDirectory() }
  // The first round settles what is new.
  const service = await startService(env)
  await calm(url)
  await service.stop()
  const before = await statementsOf(url)
  await startService(env)
  const after = await calm(url)
  const round = after - before
  await delay(seconds * 1000)
  const minutely = ((await statementsOf(url)) - after) * (60 / seconds)
  const sum = Math.round(round / 60 + minutely)
  console.log(
    `${accounts} accounts: ${round} statements for the round of an hour, ${Math.round(minutely)} a minute ` +
      `besides, ${sum} a minute in all (aim for 1000 accounts: 250)`,
  )
}

/** Waits for the end of the round. Resolves to the statements so far. */
async function calm(url: string): Promise<number> {
  let count = await statementsOf(url)
  for (let calm = 0; calm < calmSeconds; ) {
    await delay(1000)
    const now = await statementsOf(url)
    calm = now - count > accounts / 100 + 10 ? 0 : calm + 1
    count = now
  }
  return count
}
