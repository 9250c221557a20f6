/** The arrangement of a resource's form: read from its field list, saved as a whole. */
import { callApi, errorMessage, type Field } from '../../api/api.ts'
import { fieldsQuery, queryClient } from '../../api/queries.ts'
import type { Section } from '../../ui/order.ts'
import { toast, toastError } from '../../ui/toast.tsx'
import { refetchAll, saveOrder } from '../saving.ts'

/** Every field once, in its section. */
export function formOf(sections: readonly (readonly Field[])[]): Section[] {
  return sections.flatMap(fields =>
    fields[0] ? [{ section: fields[0].section, fields: fields.map(field => field.internal_name) }] : [],
  )
}

/** The field list after the arrangement of a form. */
function arranged(sections: readonly (readonly Field[])[], form: readonly Section[]): Field[][] {
  const all = new Map(sections.flat().map(field => [field.internal_name, field]))
  return form.map(({ section, fields }) =>
    fields.flatMap(name => {
      const field = all.get(name)
      return field ? [{ ...field, section }] : []
    }),
  )
}

export const saveForm = (source: string, form: readonly Section[]) =>
  callApi('PUT', '/field/form', { query: { source }, body: form })

/** Shows a form at once and saves it; a refused change is rolled back. */
export async function arrange(
  source: string,
  sections: readonly (readonly Field[])[],
  form: readonly Section[],
  message: string,
): Promise<void> {
  const { queryKey } = fieldsQuery(source)
  const before = formOf(sections)
  queryClient.setQueryData(queryKey, arranged(sections, form))
  try {
    // A later order is shown already.
    if (!(await saveOrder(`form ${source}`, form, () => saveForm(source, form)))) return
    const undo = () => void arrange(source, arranged(sections, form), before, 'The form was restored')
    toast(message, { action: { label: 'Undo', act: undo } })
  } catch (error) {
    queryClient.setQueryData(queryKey, sections as Field[][])
    toastError(errorMessage(error))
  }
  await refetchAll()
}
