/** The quick filters and orders of each resource. */

type Quick = {
  readonly label: string
  readonly filter: (me: number) => string
  /** the field that the caller's role must show */
  readonly needs: string
}

const deals: readonly Quick[] = [
  { label: 'Mine', filter: me => `sales_owner:eq(${me})`, needs: 'sales_owner' },
  // The status of the stages of kind "open" (D19).
  { label: 'Open', filter: () => 'status:eq(1)', needs: 'status' },
  { label: 'Nothing planned', filter: () => 'upcoming_activities:eq(0)', needs: 'upcoming_activities' },
]

const quick: { readonly [resource: string]: readonly Quick[] } = {
  deal: deals,
  product: [{ label: 'Mine', filter: me => `sales_owner:eq(${me})`, needs: 'sales_owner' }],
  activity: [
    { label: 'Mine', filter: me => `owner:eq(${me})`, needs: 'owner' },
    { label: 'To do', filter: () => 'done_at:isnull(true)', needs: 'done_at' },
  ],
}

export const quickFilters = (resource: string): readonly Quick[] => quick[resource] ?? []

type QuickSort = { readonly label: string; readonly sort: string; readonly needs: string }

const nothingPlanned: QuickSort = {
  label: 'Nothing planned first',
  sort: 'upcoming_activities:asc,next_activity_at:asc',
  needs: 'upcoming_activities',
}

export const quickSorts = (resource: string): readonly QuickSort[] =>
  resource === 'deal' ? [nothingPlanned] : []
