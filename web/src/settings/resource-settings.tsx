/** A page for a small resource that has only a name: a list, a dialog to create and edit, and deletion. */
import { useQuery } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type AnyRecord, callApi } from '../api/api.ts'
import { useReadOnlyReason } from '../shell/me.ts'
import { Button } from '../ui/button.tsx'
import { PageBody, PageHead, Panel } from '../ui/page.tsx'
import { DeleteDialog } from './dialogs.tsx'
import { RecordDialog } from './record-dialog.tsx'
import { RecordTable, recordsQuery } from './record-table.tsx'
import { DeleteButton, EditButton } from './row-buttons.tsx'
import { saveWithToast } from './saving.ts'
import { useOpenDialog } from './use-open-dialog.ts'

export type Named = { readonly source: string; readonly one: string; readonly title: string }

function ResourceSettings({ of, detail }: { of: Named; detail: string }) {
  const { source, one, title } = of
  const reason = useReadOnlyReason(source)
  const read = useQuery(recordsQuery(source))
  const [opened, setOpened] = useOpenDialog<{ how: 'edit' | 'delete'; record?: AnyRecord }>({ how: 'edit' })
  const close = () => setOpened(null)
  const record = opened?.record
  const add = (
    <Button variant="primary" reason={reason} onPress={() => setOpened({ how: 'edit' })}>
      <Plus size={14} aria-hidden /> New {one}
    </Button>
  )
  return (
    <>
      <PageHead title={title}>{add}</PageHead>
      <PageBody>
        <Panel title={title} detail={detail}>
          <RecordTable
            source={source}
            label={title}
            read={read}
            columns={['name', 'updated_at']}
            empty={`There is no ${one} yet.`}
            actions={row => (
              <>
                <EditButton
                  name={row.name}
                  reason={reason}
                  onPress={() => setOpened({ how: 'edit', record: row })}
                />
                <DeleteButton
                  name={row.name}
                  reason={reason}
                  onPress={() => setOpened({ how: 'delete', record: row })}
                />
              </>
            )}
          />
        </Panel>
      </PageBody>
      {opened?.how === 'edit' && (
        <RecordDialog
          source={source}
          names={['name']}
          title={record ? `Edit “${record.name}”` : `New ${one}`}
          action={record ? 'Save' : 'Create'}
          message={({ name }) => `Saved the ${one} “${name}”`}
          record={record}
          onClose={close}
        />
      )}
      {opened?.how === 'delete' && record && (
        <DeleteDialog
          what={`the ${one} “${record.name}”`}
          path={`/${source}/${record.id}`}
          message={`Deleted the ${one} “${record.name}”`}
          undo={() =>
            void saveWithToast(
              () => callApi('POST', `/${source}/${record.id}/restore`),
              `Restored the ${one} “${record.name}”`,
            )
          }
          onClose={close}
        >
          <p className="text-ink-soft">It can be restored for thirty days.</p>
        </DeleteDialog>
      )}
    </>
  )
}

export function Territories() {
  return (
    <ResourceSettings
      of={{ source: 'territory', one: 'territory', title: 'Territories' }}
      detail="Where deals, contacts and companies belong. A role may let its users see their territories only."
    />
  )
}

export function Tags() {
  return (
    <ResourceSettings
      of={{ source: 'tag', one: 'tag', title: 'Tags' }}
      detail="Words to mark deals with, such as a campaign."
    />
  )
}
