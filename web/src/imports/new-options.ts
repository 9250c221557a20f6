/** Texts of a file that become tags, or options of a dropdown, up to its limit. */
import { useState } from 'react'
import { callApi, errorMessage, type Field } from '../api/api.ts'
import { hasOwnOptions, optionsMax, typeInfo } from '../fields/custom-types.ts'
import { refetchAll } from '../settings/saving.ts'
import { toast } from '../ui/toast.tsx'
import { type Import, noteChanged, saved } from './import.ts'

/** The texts of a file that could become options of a field, or tags. */
export type MissingOptions = {
  readonly label: string
  /** the kind of record to create */
  readonly what: 'option' | 'tag'
  /** the scope required to create them */
  readonly scope: string
  /** number that may still be created */
  readonly room: number
  /** the names in a text that don't exist yet; a cell of several choices may have several */
  readonly of: (text: string) => readonly string[]
  readonly make: (name: string) => Promise<unknown>
}

/** `isKnown`: True if a text is an option or a tag. Null if the account can't change these. */
export function missingOptionsOf(
  field: Field | undefined,
  options: readonly unknown[],
  isKnown: (text: string) => boolean,
): MissingOptions | null {
  const isOfTags = field?.related_field?.source === 'tag'
  if (!field || !(hasOwnOptions(field) || isOfTags)) return null
  const isSeveral = typeInfo(field).isSeveral || isOfTags
  const { id, field_name: label } = field
  const made = isOfTags
    ? { what: 'tag' as const, scope: 'tag:write', room: Number.POSITIVE_INFINITY, path: '/tag' as const }
    : {
        ...{ what: 'option' as const, scope: 'field:write', room: optionsMax - options.length },
        path: `/field/${id}/option` as const,
      }
  const partsOf = (text: string) => (isSeveral ? text.split(',').map(part => part.trim()) : [text])
  return {
    ...{ label, what: made.what, scope: made.scope, room: made.room },
    make: name => callApi('POST', made.path, { body: { name } }),
    of: text => different(partsOf(text).filter(part => part !== '' && !isKnown(part))),
  }
}

/** Without those that differ in case only: they are the same option. */
export function different(names: readonly string[]): readonly string[] {
  return [...new Map(names.toReversed().map(name => [name.toLocaleLowerCase(), name])).values()].toReversed()
}

/** Creates options one after the other, until one is refused; those that were created stay. */
export function useNewOptions(job: Import, missingOptions: MissingOptions | null) {
  const [left, setLeft] = useState(0)
  const [problem, setProblem] = useState<string>()
  const make = async (names: readonly string[], onCreated: () => void) => {
    if (!missingOptions) return
    const { label, what } = missingOptions
    setProblem(undefined)
    setLeft(names.length)
    let made = 0
    try {
      await saved(job.id)
      for (const name of names) {
        await missingOptions.make(name)
        made++
        setLeft(names.length - made)
      }
      onCreated()
    } catch (error) {
      setProblem(`“${names[made]}” was not added to ${label}. ${errorMessage(error)}`)
    }
    if (made === 1) toast(`Added the ${what} “${names[0]}” to ${label}`)
    if (made > 1) toast(`Added ${made} ${what}s to ${label}`)
    if (made) noteChanged(job.id)
    await refetchAll()
    setLeft(0)
  }
  return { left, problem, make }
}
