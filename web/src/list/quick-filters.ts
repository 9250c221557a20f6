/** The quick filters of each resource. */

type Quick = { readonly label: string; readonly filter: (me: number) => string }

const deals: readonly Quick[] = [
  { label: 'Mine', filter: me => `sales_owner:eq(${me})` },
  // The status of the stages of kind "open" (D19).
  { label: 'Open', filter: () => 'status:eq(1)' },
]

const quick: { readonly [resource: string]: readonly Quick[] } = {
  deal: deals,
  product: [{ label: 'Mine', filter: me => `sales_owner:eq(${me})` }],
  activity: [
    { label: 'Mine', filter: me => `owner:eq(${me})` },
    { label: 'To do', filter: () => 'done_at:isnull(true)' },
  ],
}

export const quickFilters = (resource: string): readonly Quick[] => quick[resource] ?? []
