/** The rule of activities that a form applies: an activity is about something (D157). Pure. */
import { isEmpty, type Problems, type Values } from './draft.ts'

const subjects = ['deal', 'contact', 'company']

/** The problem of an activity without a subject. */
export function missingSubject(resource: string, values: Values): Problems {
  if (resource !== 'activity' || subjects.some(name => !isEmpty(values[name]))) return {}
  return { deal: 'Choose a deal, a contact or a company that this is about.' }
}
