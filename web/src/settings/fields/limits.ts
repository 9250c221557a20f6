/** The limits of a field while they are typed. Pure. */
import type { Field } from '../../api/api.ts'
import { writeDecimal } from '../../fields/decimal.ts'
import { numberIn } from '../number-input.ts'
import type { FieldDraft } from './field-parts.tsx'

/** The changed settings in the form to send; undefined if all is the same. */
export function changedConfig(
  { case_sensitive: was = false, ...limits }: Field['config'],
  { config, case_sensitive }: Pick<FieldDraft, 'config' | 'case_sensitive'>,
  locale?: string,
) {
  const changes = {
    ...changedLimits(limits, config, locale),
    ...(was === case_sensitive ? {} : { case_sensitive }),
  }
  return Object.keys(changes).length ? { config: changes } : {}
}

/** The changed limits in the form to send: null removes one. */
export function changedLimits(
  before: { readonly [limit: string]: number | undefined },
  after: { readonly [limit: string]: string },
  locale?: string,
) {
  const changes: { [limit: string]: number | string | null } = {}
  for (const [name, typed] of Object.entries(after)) {
    const was = before[name]
    const text = typed.trim()
    if (text === (was === undefined ? '' : writeDecimal(was, locale))) continue
    changes[name] = numberIn(text, locale)
  }
  return changes
}
