/** What stands in the place of a table without records: why, and what can be done. */
import { openNew } from '../../shell/new-record.tsx'
import { Empty } from '../../ui/bits.tsx'
import { Button } from '../../ui/button.tsx'
import { ImportLink } from './import-link.tsx'

export function NothingListed(props: {
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
      <Empty title={`No ${things} match the filter.`}>
        <Button onPress={onClear}>Clear the filter</Button>
      </Empty>
    )
  if (isDeleted) return <Empty title={`No ${things} are deleted.`} />
  return (
    <Empty title={`There are no ${things} yet.`}>
      <Button look="primary" reason={reason} onPress={() => openNew(resource)}>
        New {one}
      </Button>
      <ImportLink resource={resource} />
    </Empty>
  )
}
