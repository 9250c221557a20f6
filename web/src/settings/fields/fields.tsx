/** The fields of each resource, in the sections of its form. */
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import type { Field } from '../../api/api.ts'
import { fieldsQuery } from '../../api/queries.ts'
import { tables } from '../../records/tables.ts'
import { Loading } from '../../shell/load-error.tsx'
import { useReadOnlyReason } from '../../shell/me.ts'
import { Button } from '../../ui/button.tsx'
import { PageBody, PageHead } from '../../ui/page.tsx'
import { DeleteDialog } from '../dialogs.tsx'
import { useOpenDialog } from '../use-open-dialog.ts'
import { DeletedFields } from './deleted-fields.tsx'
import { FieldDialog } from './field-dialog.tsx'
import { FieldSections } from './field-sections.tsx'
import { NewFieldDialog } from './new-field-dialog.tsx'
import { OptionsDialog } from './options-dialog.tsx'
import { SectionDialog } from './section-dialog.tsx'

const sources = Object.values(tables)

export type OpenFieldDialog =
  | { readonly how: 'new' | 'add-section'; readonly section?: string }
  | { readonly how: 'rename-section'; readonly section: string }
  | { readonly how: 'edit' | 'options' | 'delete'; readonly field: Field }
  | null

export function Fields() {
  const search = useSearch({ strict: false }) as { source?: string }
  const { resource: source } = sources.find(({ resource }) => resource === search.source) ?? sources[0]!
  const reason = useReadOnlyReason('field')
  const read = useQuery(fieldsQuery(source))
  const sections = read.data
  const [opened, setOpened] = useOpenDialog<OpenFieldDialog>({ how: 'new' })
  const close = () => setOpened(null)
  return (
    <>
      <PageHead title="Fields">
        <Button reason={reason} onPress={() => setOpened({ how: 'add-section' })}>
          Add a section
        </Button>
        <Button variant="primary" reason={reason} onPress={() => setOpened({ how: 'new' })}>
          <Plus size={14} aria-hidden /> Add a field
        </Button>
      </PageHead>
      <PageBody>
        <nav aria-label="Records" className="flex flex-wrap gap-1">
          {sources.map(({ resource, title }) => (
            <Link
              key={resource}
              to="/settings/$page"
              params={{ page: 'fields' }}
              search={{ source: resource }}
              aria-current={resource === source ? 'true' : undefined}
              className="min-h-8 rounded-sm px-3 py-1.5 text-ink-soft hover:bg-hover
                aria-[current]:bg-accent-soft aria-[current]:font-medium aria-[current]:text-accent-strong"
            >
              {title}
            </Link>
          ))}
        </nav>
        <Loading of={[read]} className="h-96" />
        {sections && (
          <FieldSections
            key={source}
            source={source}
            sections={sections}
            reason={reason}
            onOpen={setOpened}
          />
        )}
        <DeletedFields source={source} reason={reason} />
      </PageBody>
      {opened?.how === 'new' && sections && (
        <NewFieldDialog source={source} sections={sections} onClose={close} />
      )}
      {(opened?.how === 'add-section' || opened?.how === 'rename-section') && sections && (
        <SectionDialog source={source} sections={sections} section={opened.section} onClose={close} />
      )}
      {opened?.how === 'edit' && <FieldDialog source={source} field={opened.field} onClose={close} />}
      {opened?.how === 'options' && <OptionsDialog source={source} field={opened.field} onClose={close} />}
      {opened?.how === 'delete' && (
        <DeleteDialog
          what={`the field “${opened.field.field_name}”`}
          path={`/field/${opened.field.id}`}
          message={`Deleted the field “${opened.field.field_name}”`}
          onClose={close}
        >
          <p className="text-ink-soft">
            It disappears from records, lists and forms at once. For thirty days it can be restored with its
            values, below the list; then the values are gone. To keep the values for good, deactivate it
            instead.
          </p>
        </DeleteDialog>
      )}
    </>
  )
}
