/** The empty state of a table: the reason, and possible actions. */
import { openNew } from '../../shell/new-record.tsx'
import { Button } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/elements.tsx'
import { ImportLink } from './import-link.tsx'

export function EmptyTable(props: {
  title: string
  one: string
  resource: string
  reason: string | undefined
  filter: string
  isDeleted: boolean
  onClear: () => void
}) {
  const { title, one, resource, reason, filter, isDeleted, onClear } = props
  const things = title.toLowerCase()
  if (filter)
    return (
      <EmptyState title={`No ${things} match the filter.`}>
        <Button onPress={onClear}>Clear the filter</Button>
      </EmptyState>
    )
  if (isDeleted) return <EmptyState title={`No ${things} are deleted.`} />
  return (
    <EmptyState title={`There are no ${things} yet.`}>
      <Button variant="primary" reason={reason} onPress={() => openNew(resource)}>
        New {one}
      </Button>
      <ImportLink resource={resource} />
    </EmptyState>
  )
}
