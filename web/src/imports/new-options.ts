/** Texts of a file that become options of a dropdown, as many as it has room for; and making them. */
import { useState } from 'react'
import { callApi, errorMessage, type Field } from '../api/api.ts'
import { hasOwnOptions, optionsMax, typeInfo } from '../fields/custom-types.ts'
import { refetchAll } from '../settings/saving.ts'
import { toast } from '../ui/toast.tsx'
import { type Import, noteChanged, saved } from './import.ts'

/** The texts of a file that could become options of a field. */
export type MissingOptions = {
  readonly field: Field
  /** how many options it may have more */
  readonly room: number
  /** the names that a text has and no option; a cell of several choices may have several */
  readonly of: (text: string) => readonly string[]
}

/** `isKnown`: whether a text names an option. Null where the options are not the account's to change. */
export function missingOptionsOf(
  field: Field | undefined,
  options: readonly unknown[],
  isKnown: (text: string) => boolean,
): MissingOptions | null {
  if (!field || !hasOwnOptions(field)) return null
  const { isSeveral } = typeInfo(field)
  const partsOf = (text: string) => (isSeveral ? text.split(',').map(part => part.trim()) : [text])
  return {
    field,
    room: optionsMax - options.length,
    of: text => different(partsOf(text).filter(part => part !== '' && !isKnown(part))),
  }
}

/** Without those that differ in capitals only: they name the same option. */
export function different(names: readonly string[]): readonly string[] {
  return [...new Map(names.toReversed().map(name => [name.toLocaleLowerCase(), name])).values()].toReversed()
}

/** Makes options one after the other, until one is refused; those that were made stay. */
export function useNewOptions(job: Import, missingOptions: MissingOptions | null) {
  const [left, setLeft] = useState(0)
  const [problem, setProblem] = useState<string>()
  const make = async (names: readonly string[], onCreated: () => void) => {
    if (!missingOptions) return
    const { id, field_name: label } = missingOptions.field
    setProblem(undefined)
    setLeft(names.length)
    let made = 0
    try {
      await saved()
      for (const name of names) {
        await callApi('POST', `/field/${id}/option`, { body: { name } })
        made++
        setLeft(names.length - made)
      }
      onCreated()
    } catch (error) {
      setProblem(`“${names[made]}” was not added to ${label}. ${errorMessage(error)}`)
    }
    if (made === 1) toast(`Added the option “${names[0]}” to ${label}`)
    if (made > 1) toast(`Added ${made} options to ${label}`)
    if (made) noteChanged(job.id)
    await refetchAll()
    setLeft(0)
  }
  return { left, problem, make }
}
