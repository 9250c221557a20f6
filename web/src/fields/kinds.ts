/** The table of kinds: a type of the service without a line here does not compile. */
import type { Field, FieldType } from '../api/api.ts'
import type { Kind } from './kind.ts'
import { text } from './text.tsx'
import { unknown } from './unknown.tsx'

// biome-ignore lint/suspicious/noExplicitAny: each kind knows its own values
const kinds: { readonly [type in FieldType]?: Kind<any> } = {
  SINGLE_STRING: text,
}

export function kindOf({ type }: Pick<Field, 'type'>): Kind {
  return kinds[type] ?? unknown
}
