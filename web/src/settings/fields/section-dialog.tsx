/** A section of a form: a new one begins with a field of another; renaming one changes its title. */
import { useState } from 'react'
import type { Field } from '../../api/api.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/inputs.tsx'
import { type Section, withFieldAt } from '../../ui/order.ts'
import { DialogForm } from '../dialogs.tsx'
import { useSaving } from '../saving.ts'
import { formOf, saveForm } from './form-order.ts'

export function SectionDialog(props: {
  source: string
  sections: readonly (readonly Field[])[]
  /** the section to rename; default: a new one */
  section?: string | undefined
  onClose: () => void
}) {
  const { source, sections, section, onClose } = props
  const [title, setTitle] = useState(section ?? '')
  const [first, setFirst] = useState<string | null>(null)
  const { problems, isBusy, save, setProblems } = useSaving([])
  const form = formOf(sections)
  const change = async () => {
    if (title.trim() === '') return setProblems({ title: 'Enter a title.' })
    if (!section && !first) return setProblems({ first: 'Choose a field: a section has at least one.' })
    const next: Section[] = section
      ? form.map(part => (part.section === section ? { ...part, section: title } : part))
      : withFieldAt([...form, { section: title, fields: [] }], first!, { list: title, index: 0 })
    const message = section ? `The section is called “${title}” now` : `Added the section “${title}”`
    if (await save(() => saveForm(source, next), message)) onClose()
  }
  return (
    <Dialog title={section ? `Rename “${section}”` : 'Add a section'} isOpen onClose={onClose}>
      <DialogForm
        action={section ? 'Save' : 'Add'}
        draft={[title, first]}
        isBusy={isBusy}
        problem={problems['']}
        onCancel={onClose}
        onSave={() => void change()}
      >
        <TextField
          label="Title"
          isRequired
          autoFocus
          value={title}
          onChange={setTitle}
          error={problems.title}
        />
        {!section && (
          <Select
            label="First field"
            isRequired
            value={first}
            onChange={setFirst}
            none="Choose…"
            choices={sections.flat().map(field => ({
              id: field.internal_name,
              name: `${field.field_name} (${field.section})`,
            }))}
            error={problems.first}
            hint="It leaves its section. A section without a field disappears."
          />
        )}
      </DialogForm>
    </Dialog>
  )
}
