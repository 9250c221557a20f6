/** Chooses the fields that a pipeline's cards show besides their title: up to four, or the usual ones. */
import { useState } from 'react'
import { callApi } from '../../api/api.ts'
import type { Pipeline } from '../../api/queries.ts'
import { useFields } from '../../list/use-fields.ts'
import { technicalNames } from '../../records/editing/technical-fields.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { ChipPicker } from '../chip-picker.tsx'
import { DialogForm } from '../dialogs.tsx'
import { useSaving } from '../saving.ts'

const most = 4

export function CardFieldsDialog({ pipeline, onClose }: { pipeline: Pipeline; onClose: () => void }) {
  const [chosen, setChosen] = useState<readonly string[]>(pipeline.card_fields)
  const { problems, isBusy, save } = useSaving(['card_fields'])
  const choices = useFields('deal')
    .filter(({ internal_name: name }) => name !== 'title' && !technicalNames.has(name))
    .map(({ internal_name, field_name }) => ({ id: internal_name, name: field_name }))
  const write = () => callApi('PATCH', `/pipeline/${pipeline.id}`, { body: { card_fields: chosen } })
  return (
    <Dialog title="Card fields" detail={`Of the pipeline “${pipeline.name}”`} isOpen onClose={onClose}>
      <DialogForm
        action="Save"
        draft={chosen}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={async () => (await save(write, `The cards of “${pipeline.name}” are changed`)) && onClose()}
      >
        <ChipPicker
          label="Fields"
          none="Choose a field…"
          hint="Up to four, in this order. Without any, cards show the customer, the value and the dates."
          choices={choices}
          chosen={chosen}
          onChange={next => setChosen(next.slice(0, most))}
          error={problems.card_fields}
        />
      </DialogForm>
    </Dialog>
  )
}
