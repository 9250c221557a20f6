/**
 * The currency (D37, D44). Every account has all currencies of ISO 4217, and decides which are active, and
 * their rates to its base currency. Fields as data; revalue.ts applies a rate. Pure.
 */
import { authorFields, defineFields, idField, nameField, recordFields } from '../fields/define.ts'
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
      { id: 952, name: 'code', label: 'Code', type: 'SINGLE_STRING', readOnly: true },
      nameField(953),
      {
        id: 954,
        name: 'symbol',
        label: 'Symbol',
        type: 'SINGLE_STRING',
        required: true,
        config: { min_length: 1, max_length: 10 },
      },
      { id: 955, name: 'decimals', label: 'Decimals', type: 'SINGLE_NUMBER', readOnly: true },
      {
        id: 956,
        name: 'rate',
        label: 'Rate to the base currency',
        type: 'SINGLE_NUMBER',
        config: { min: 0, max: 1_000_000_000_000, max_decimals: 12 },
      },
      {
        id: 957,
        name: 'is_active',
        label: 'In use',
        type: 'DROPDOWN',
        options: ['Yes', 'No'],
        required: true,
      },
    ],
    Record: [...authorFields(958), ...recordFields(962)],
  }),
  applyRules: ({ after, before, catalog, problem }) => {
    if (after.rate === 0)
      problem('rate', 'out_of_range', 'must be above 0', { hint: 'Send null for no rate.' })
    if (!before || before.id !== catalog.account.base_currency) return
    if (after.rate !== 1) problem('rate', 'interface_required', 'must be 1: it is the base currency')
    if (after.is_active !== 1)
      problem('is_active', 'interface_required', 'must be Yes: it is the base currency')
  },
}
