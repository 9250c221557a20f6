/** A new record in ten seconds: its required fields, and all others on demand. */
import { Suspense, useRef, useState } from 'react'
import type { Field } from '../../api/api.ts'
import { keyLabels } from '../../shell/commands.ts'
import { useReadOnlyReason } from '../../shell/me.ts'
import type { NewRecordRequest } from '../../shell/new-record.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Key, Skeleton } from '../../ui/elements.tsx'
import { Checkbox, SavedInputs } from '../../ui/inputs.tsx'
import { byCtrlEnter } from '../../ui/keys.ts'
import { tables } from '../tables.ts'
import { FormFoot, ProblemSummary, RecordForm } from './record-form.tsx'
import { type Draft, keepDraft, newForm, useNewRecord } from './use-new-record.ts'

const wordFor = (resource: string) =>
  Object.values(tables).find(table => table.resource === resource)?.one ?? resource.replaceAll('_', ' ')

export function NewDialog({ request, onClose }: { request: NewRecordRequest; onClose: () => void }) {
  const { resource } = request
  const draft = useRef<Draft | null>(null)
  const close = () => {
    if (draft.current) keepDraft(resource, draft.current)
    onClose()
  }
  return (
    <Dialog title={`New ${wordFor(resource)}`} isOpen onClose={close} width="wide">
      <Suspense fallback={<FormSkeleton />}>
        <NewForm request={request} onKeep={kept => (draft.current = kept)} onClose={onClose} />
      </Suspense>
    </Dialog>
  )
}

function FormSkeleton() {
  return (
    <div aria-hidden className="flex flex-col gap-4">
      {[1, 2, 3, 4].map(row => (
        <Skeleton key={row} className="h-13 w-full" />
      ))}
    </div>
  )
}

type FormProps = { request: NewRecordRequest; onKeep: (draft: Draft | null) => void; onClose: () => void }

function NewForm({ request, onKeep, onClose }: FormProps) {
  const { resource } = request
  const reason = useReadOnlyReason(resource)
  const [isAll, setAll] = useState(false)
  const draft = useNewRecord({ request, onKeep, onClose, isReadOnly: reason !== undefined })
  const { sections, fields, values, problems, required, isRestored, nth, isSaving, prefill, save } = draft
  const isShown = ({ internal_name: name }: Field) =>
    isAll || required.has(name) || name in prefill || name in problems || isCommon(resource, name)
  return (
    <form
      noValidate
      onKeyDown={byCtrlEnter(event => void save(event.shiftKey))}
      onSubmit={event => {
        event.preventDefault()
        void save(false)
      }}
      className="flex flex-col gap-4"
    >
      {isRestored && (
        <p className="flex items-center gap-2 rounded-md bg-accent-soft px-3 py-1.5">
          <span className="grow">Your unsaved draft was restored.</span>
          <Button variant="quiet" isSmall onPress={draft.startOver}>
            Start over
          </Button>
        </p>
      )}
      <ProblemSummary form={newForm} problems={problems} fields={fields} />
      <SavedInputs isSaving={isSaving}>
        <RecordForm
          // Texts in its inputs that are no values yet, such as half a name, end with their record.
          key={nth}
          form={newForm}
          sections={sections}
          values={values}
          problems={problems}
          isShown={isShown}
          isRequired={({ internal_name }) => required.has(internal_name)}
          onChange={draft.change}
          autoFocus={fields[0]?.internal_name}
          hasHeadings={isAll}
        />
      </SavedInputs>
      <FormFoot>
        <Checkbox label="All fields" checked={isAll} onChange={setAll} />
        <span className="ml-auto flex flex-wrap justify-end gap-2">
          <Button variant="quiet" reason={reason} isDisabled={isSaving} onPress={() => void save(true)}>
            Create and add another
          </Button>
          <Button type="submit" variant="primary" reason={reason} isPending={isSaving}>
            Create
            <span aria-hidden className="flex gap-0.5 max-sm:hidden">
              {keyLabels('mod+Enter').map(key => (
                <Key key={key}>{key}</Key>
              ))}
            </span>
          </Button>
        </span>
      </FormFoot>
    </form>
  )
}

/** True if a new record usually has a field, besides the required ones. */
function isCommon(resource: string, name: string): boolean {
  return commonFields[resource]?.includes(name) ?? false
}

const commonFields: { readonly [resource: string]: readonly string[] } = {
  deal: ['company', 'deal_value', 'expected_close_date'],
  contact: ['first_name', 'company', 'emails', 'phones'],
  company: ['website', 'phones'],
  product: ['product_code', 'unit_price'],
  activity: ['due_at', 'deal', 'contact', 'owner', 'notes'],
}
