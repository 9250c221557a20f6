/** The statement of a create in ARCHITECTURE.md is the one that the service sends. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Json } from '../../src/json.ts'
import { statementsOf } from '../../src/mergeable-write.ts'
import type { Transaction } from '../../src/records/store.ts'
import { workOn } from '../../src/records/work.ts'
import { createRecord } from '../../src/records/write/save.ts'
import { resources } from '../../src/resources/resources.ts'
import { dealBody, startService } from '../support/service.ts'
import { assertShown } from '../support/shown-statement.ts'

const { db, known } = await startService()

test('the statement of a create is shown as it is sent', async () => {
  const [, shown] = /```sql\n(WITH latch[\s\S]*?)```/.exec(readFileSync('ARCHITECTURE.md', 'utf8'))!
  let sent = ''
  const spy: Transaction = {
    hasOnlyTransactions: false,
    query: () => assert.fail('A create by ids reads nothing'),
    write: async (_account, content) => {
      sent = statementsOf(content)[0]!.text
      return [{ id: '1', version: '1', record: '{}' }]
    },
  }
  const catalog = await loadCatalog(db, resources, 1)
  await createRecord(workOn(spy, { catalog, actor: 1 }, 'deal'), dealBody(known) as Json)
  assertShown(shown!, sent)
})
