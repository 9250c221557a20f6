/** Deleted fields that can still be restored. */
import { useQuery } from '@tanstack/react-query'
import { callApi, type Field } from '../../api/api.ts'
import { useFormat } from '../../format/use-format.tsx'
import { Button } from '../../ui/button.tsx'
import { Panel } from '../../ui/page.tsx'
import { saveWithToast } from '../saving.ts'

export function DeletedFields({ source, reason }: { source: string; reason: string | undefined }) {
  const format = useFormat()
  const { data } = useQuery({
    queryKey: ['fields', source, 'deleted'],
    queryFn: () =>
      callApi<{ fields: Field[][] }>('GET', '/field/list', { query: { source, include_deleted: 'true' } }),
  })
  const deleted = data?.fields.flat().filter(field => field.deleted_at) ?? []
  if (deleted.length === 0) return null
  return (
    <Panel
      title="Deleted"
      detail="For thirty days, or as long as the service is set to, they come back with their values."
    >
      <ul aria-label="Deleted fields">
        {deleted.map(field => (
          <li key={field.id} className="flex items-center gap-3 border-line px-4 py-1.5 not-first:border-t">
            <span className="min-w-0 truncate font-medium">{field.field_name}</span>
            <span className="grow text-sm text-ink-soft">deleted {format.ago(field.deleted_at!)}</span>
            <Button
              isSmall
              reason={reason}
              aria-label={`Restore ${field.field_name}`}
              onPress={() =>
                void saveWithToast(
                  () => callApi('POST', `/field/${field.id}/restore`),
                  `Restored the field “${field.field_name}” with its values`,
                )
              }
            >
              Restore
            </Button>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
