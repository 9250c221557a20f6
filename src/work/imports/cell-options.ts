/** Cells of options, and the words for the options Yes and No (D80). Pure. */
import type { Field } from '../../fields/field.ts'
import { writtenId } from '../../fields/kinds/dropdown.ts'
import type { Json } from '../../json.ts'

const yes = /^(?:y|yes|true|t|x|1|on|ja|oui|si|sí|sim)$/i
const no = /^(?:n|no|false|f|0|off|nein|non|não)$/i

/** True if the options are Yes and No. */
export function isYesNo(options: readonly { readonly name: string }[]): boolean {
  return options.length === 2 && options.every(({ name }) => name === 'Yes' || name === 'No')
}

export function saysYesOrNo(text: string): boolean {
  return yes.test(text) || no.test(text)
}

/**
 * A name or an id; for the options Yes and No, also their synonyms. In a column that is called as the field,
 * the id of an option is an id first, as exports have it (D81).
 */
export function optionValue(text: string, { options }: Field, isOurs: boolean): Json {
  const id = isOurs ? writtenId(text, options) : undefined
  if (id !== undefined) return id
  if (!isYesNo(options) || options.some(({ name }) => name.toLowerCase() === text.toLowerCase())) return text
  return yes.test(text) ? 'Yes' : no.test(text) ? 'No' : text
}
