/** The statement of a list in ARCHITECTURE.md is the one that the service sends. */
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Role } from '../../src/fields/catalog.ts'
import { baseCatalog } from '../../src/http/openapi/document.ts'
import { pageStatement } from '../../src/lists/page.ts'
import { readListQuery } from '../../src/lists/query.ts'
import { catalogAs } from '../../src/rights/as-role.ts'
import { Rights } from '../../src/rights/rights.ts'
import { assertShown } from '../support/shown-statement.ts'

const text = readFileSync('ARCHITECTURE.md', 'utf8')

/** Of users who see their own deals. */
const role: Role = {
  ...{ id: 1, name: 'Seller', built_in: null, scopes: [] },
  ...{ visibility: { deal: 'own' }, may_change: {}, hidden_fields: [], locked_fields: [] },
}

test('the statement of a list is shown as it is sent', () => {
  const [, query] = /second page of `(\S+?)`/.exec(text)!
  const [, shown] = /```sql\n(SELECT string_agg[\s\S]*?)```/.exec(text)!
  const catalog = catalogAs(baseCatalog, new Rights(new Set(), role))
  const parameters = new Map([...new URLSearchParams(query)].map(([name, value]) => [name, [value]]))
  const asOf = '2026-01-01T00:00:00.000Z'
  const request = readListQuery(parameters, catalog.resources.get('deal')!, catalog, asOf)
  const cursor = { position: [asOf, '7'], asOf }
  const sent = pageStatement({ catalog, actor: 3 }, { ...request, cursor }).text
  assertShown(shown!, sent)
})
