/** Creates a field for an unmapped column, and maps the column to it. */
import { useQuery } from '@tanstack/react-query'
import { fieldsQuery, queryClient } from '../api/queries.ts'
import { jobKey } from '../jobs/job.ts'
import { NewFieldDialog } from '../settings/fields/new-field-dialog.tsx'
import { guessField } from './guess-field.ts'
import { type Column, type Import, saved } from './import.ts'

export function ColumnField(props: {
  job: Import
  column: Column
  onCreated: (field: string) => void
  onClose: () => void
}) {
  const { job, column, onCreated, onClose } = props
  const { data: sections } = useQuery(fieldsQuery(job.resource))
  if (!sections) return null
  return (
    <NewFieldDialog
      source={job.resource}
      sections={sections}
      ofColumn={guessField(column, job.resource, job.total ?? 0)}
      onCreated={async ({ internal_name }) => {
        // The refetched import must have the saved changes, and the new field among its targets.
        await saved(job.id)
        await queryClient.invalidateQueries({ queryKey: jobKey(job.id) })
        onCreated(internal_name)
      }}
      onClose={onClose}
    />
  )
}
