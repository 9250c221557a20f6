/** Building a catalog takes linear time: it blocks the event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buildCatalog, type CatalogRows, type FieldRow, type Role } from '../../src/fields/catalog.ts'
import { resources } from '../../src/resources/resources.ts'
import { catalogAs } from '../../src/rights/as-role.ts'
import { Rights } from '../../src/rights/rights.ts'

const fields = Array.from({ length: 1000 }, (_, index): FieldRow => {
  const name = `cf_field_${index}`
  const named = {
    id: 2000 + index,
    resource: 'deal',
    internal_name: name,
    field_name: name,
    type: 'DROPDOWN' as const,
  }
  const plain = {
    config: {},
    default_value: null,
    is_required: false,
    is_active: true,
    is_indexed: false,
    is_unique: false,
    deleted_at: null,
  }
  return { ...named, ...plain, version: 1 }
})
const options = fields.flatMap(field =>
  Array.from({ length: 100 }, (_, index) => ({
    ...{
      id: 10_000 + index,
      resource: 'deal',
      field: field.internal_name,
      name: `Option ${index}`,
      position: index + 1,
    },
    ...{ is_active: true, is_default: false },
  })),
)
const account = {
  id: 1,
  name: 'Account',
  time_zone: 'UTC',
  locale: null,
  base_currency: 840,
  catalog_version: '1',
}
const rows: CatalogRows = {
  account,
  followed_at: '2026-01-01T00:00:00Z',
  fields,
  options,
  forms: [],
  currencies: [],
  pipelines: [],
  stages: [],
  roles: [],
}

test('each field has its options, in time that many options do not multiply', () => {
  const least = (given: CatalogRows) =>
    Math.min(
      ...Array.from({ length: 5 }, () => {
        const from = performance.now()
        buildCatalog(resources, given)
        return performance.now() - from
      }),
    )
  const [with100, without] = [least(rows), least({ ...rows, options: [] })]
  // A scan for each field took a hundred times as long.
  assert.ok(with100 < 100 * without + 300, `${without} ms without options, ${with100} ms with a hundred each`)
  const deal = buildCatalog(resources, rows).resources.get('deal')!
  for (const { internal_name } of fields) {
    const own = deal.byName.get(internal_name)!.options
    assert.deepEqual([own.length, own[0]!.name, own.at(-1)!.name], [100, 'Option 0', 'Option 99'])
  }
})

test('what a role sees is made once, also for the view of another role', () => {
  const catalog = buildCatalog(resources, rows)
  const rightsOf = (id: number) => {
    const limits = {
      hidden_fields: [],
      locked_fields: [`deal.cf_field_${id}`],
      visibility: {},
      may_change: {},
    }
    return new Rights(new Set(), { id, name: `Role ${id}`, scopes: [], ...limits } as unknown as Role)
  }
  const [one, other] = [rightsOf(1), rightsOf(2)]
  const view = catalogAs(catalog, other)
  assert.equal(catalogAs(catalogAs(catalog, one), other), view)
  const isLocked = (id: number) => view.resources.get('deal')!.byName.get(`cf_field_${id}`)!.is_read_only
  assert.deepEqual([isLocked(1), isLocked(2)], [false, true])
})
