/**
 * The currency (D37, D44). Every account has all currencies of ISO 4217, and decides which are active, and
 * their rates to its base currency. Fields as data; revalue.ts applies a rate. Pure.
 */
import { authorFields, defineFields, field, idField, nameField, recordFields } from '../fields/define.ts'
import { isSameName } from '../fields/name.ts'
import type { Resource } from '../fields/resource.ts'

export const currency: Resource = {
  name: 'currency',
  source: { id: 10, name: 'Currency' },
  shownAs: ['name'],
  // Every amount shows the code, and sums and amounts in the base currency reveal the rate.
  shownElsewhere: ['code', 'rate'],
  isConfiguration: true,
  fields: defineFields('currency', {
    'Basic information': [
      idField(951),
      field(952, 'code', 'Code', 'SINGLE_STRING', { is_read_only: true }),
      nameField(953),
      field(954, 'symbol', 'Symbol', 'SINGLE_STRING', {
        is_required: true,
        config: { min_length: 1, max_length: 10 },
      }),
      field(955, 'decimals', 'Decimals', 'SINGLE_NUMBER', { is_read_only: true }),
      field(956, 'rate', 'Rate to the base currency', 'SINGLE_NUMBER', {
        config: { min: 0, max: 1_000_000_000_000, max_decimals: 12 },
      }),
      field(957, 'is_active', 'In use', 'DROPDOWN', { options: ['Yes', 'No'], is_required: true }),
    ],
    Record: [...authorFields(958), ...recordFields(962)],
  }),
  applyRules: ({ after, before, catalog, problem }) => {
    const { id, name } = after
    const isRenamed = typeof name === 'string' && name !== before?.name
    const other = isRenamed && catalog.currencyList.find(one => one.id !== id && isSameName(one.name, name))
    // Amounts may name a currency so.
    if (other) problem('name', 'name_taken', `is the name of ${other.code}`)
    if (after.rate === 0)
      problem('rate', 'out_of_range', 'must be above 0', { hint: 'Send null for no rate.' })
    if (!before || before.id !== catalog.account.base_currency) return
    if (after.rate !== 1) problem('rate', 'interface_required', 'must be 1: it is the base currency')
    if (after.is_active !== 1)
      problem('is_active', 'interface_required', 'must be Yes: it is the base currency')
  },
}
