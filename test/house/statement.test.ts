/** The statements of lists in ARCHITECTURE.md are those that the service sends. */
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Role } from '../../src/fields/catalog.ts'
import { asOfDay } from '../../src/history/as-of-day.ts'
import { baseCatalog } from '../../src/http/openapi/document.ts'
import { pageStatement } from '../../src/lists/page.ts'
import { readListQuery } from '../../src/lists/query.ts'
import type { RawReader } from '../../src/records/store.ts'
import { catalogAs } from '../../src/rights/as-role.ts'
import { Rights } from '../../src/rights/rights.ts'
import { assertShown } from '../support/shown-statement.ts'

const text = readFileSync('ARCHITECTURE.md', 'utf8')

/** Of users who see their own deals. */
const own: Role = {
  ...{ id: 1, name: 'Seller', built_in: null, scopes: [] },
  ...{ visibility: { deal: 'own' }, may_change: {}, hidden_fields: [], locked_fields: [] },
}

const clock = '2026-01-01T00:00:00.000Z'

/** The statement of a list of deals; `position`: the keys after which it begins. */
async function sentFor(query: string, role: Role, position: readonly string[] | null): Promise<string> {
  const catalog = catalogAs(baseCatalog, new Rights(new Set(), role))
  const parameters = new Map([...new URLSearchParams(query)].map(([name, value]) => [name, [value]]))
  const request = readListQuery(parameters, catalog.resources.get('deal')!, catalog, clock)
  const cursor = position && { position, clock }
  const caller = { catalog, actor: 3 }
  const { text, values } = pageStatement(caller, { ...request, ...(cursor && { cursor }) })
  const sent: string[] = []
  const database: RawReader = {
    query: async () => [{ moment: clock, seq: '41' }],
    queryBytes: async text => {
      sent.push(text)
      return []
    },
  }
  const { reader } = await asOfDay(database, caller, request)
  await reader.queryBytes(text, values)
  return sent[0]!
}

test('the statements of lists are shown as they are sent', async () => {
  const [first, second] = [...text.matchAll(/```sql\n(SELECT string_agg[\s\S]*?)```/g)].map(([, one]) => one!)
  const [, query] = /second page of `(\S+?)`/.exec(text)!
  assertShown(first!, await sentFor(query!, own, [clock, '7']))
  const [, other] = /first page of\n`(\S+?)`/.exec(text)!
  assertShown(second!, await sentFor(other!, { ...own, visibility: {} }, null))
  const [, past] = /```sql\n(WITH past[\s\S]*?)```/.exec(text)!
  const [, ofPast] = /first page of `(as_of=\S+?)`/.exec(text)!
  assertShown(past!, await sentFor(ofPast!, { ...own, visibility: {} }, null))
})
