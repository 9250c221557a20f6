/**
 * Upgrades (D154): a kept database of each version (test/upgrades), opened by this one, answers every list,
 * record, history and total as before, on the embedded engine and on a server.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { createDatabase, startPostgres } from '../support/postgres.ts'
import { runService, settingsOnly, temporaryFolder } from '../support/running-service.ts'
import { type Answers, answerOf, differences } from '../upgrades/answers.ts'

const folder = temporaryFolder('upgrades')
const server = await startPostgres()
after(() => server?.stop())

const versions = globSync('test/upgrades/*/database.backup').map(file => file.split(/[\\/]/).at(-2)!)

test('there are kept databases', () => assert.ok(versions.length >= 2))

for (const version of versions)
  for (const engine of ['embedded', 'postgres'] as const)
    test(`${version} on ${engine}: lists, records, sums and histories are as before`, {
      skip: engine === 'postgres' && !server,
    }, async () => {
      const kept = join('test/upgrades', version)
      const answers: Answers = JSON.parse(gunzipSync(readFileSync(join(kept, 'answers.json.gz'))).toString())
      const url = engine === 'postgres' ? await createDatabase(server!.url) : ''
      const env = { DATA_DIR: join(folder, `${version}-${engine}`), DATABASE_URL: url }
      const restored = execFileSync(
        process.execPath,
        ['bin/dealwright.js', 'restore', join(kept, 'database.backup'), '--json'],
        { env: settingsOnly(env), encoding: 'utf8' },
      )
      const service = await runService(env)
      const keptAt = new Date(JSON.parse(restored).made_at)
      assert.deepEqual(await differences(service.url, answers, keptAt), [])
      await checkHistories(service.url, answers)
      await service.end()
    })

type Event = {
  readonly type: string
  readonly version: number
  readonly changes: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[]
}
type Page = { readonly data: readonly { readonly id: number; readonly version: number }[] }

/**
 * These versions kept the events of records, and did not show them. Every deal tells each of its versions
 * once, beginning with its creation, and its last title is that of the record.
 */
async function checkHistories(url: string, { token, answers }: Answers): Promise<void> {
  const lists = Object.keys(answers).filter(path => path.includes('/deal/view/list?sort=id:asc&pageSize=100'))
  const deals = lists.flatMap(path => (answers[path] as Page).data)
  assert.ok(deals.length > 250, `${deals.length}`)
  let changed = 0
  for (const deal of deals) {
    const { data } = await answerOf(`${url}/rest/api/v1/deal/${deal.id}/history`, token)
    const events = (data as readonly Event[]).toReversed()
    const told = events.map(({ version }) => version)
    assert.deepEqual(
      told,
      [...Array(deal.version).keys()].map(index => index + 1),
      `deal ${deal.id}`,
    )
    assert.equal(events[0]!.type, 'deal.created')
    const last = new Map(events.flatMap(({ changes }) => changes.map(({ field, to }) => [field, to])))
    const { title } = deal as unknown as { title: string }
    assert.equal(last.get('title'), title)
    if (deal.version > 1) changed++
  }
  assert.ok(changed >= 2, `${changed}`)
}
