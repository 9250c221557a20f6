/** The records that an activity is about, and how their activities are found. Pure. */
import type { AnyRecord, Named } from '../api/api.ts'
import { nameOf } from '../fields/references/find-records.ts'

export const subjects = ['deal', 'contact', 'company'] as const
export type Subject = (typeof subjects)[number]

/** The names are known where the form is opened. */
export type About = { readonly [subject in Subject]?: Named | undefined }

export const isSubject = (resource: string): resource is Subject =>
  (subjects as readonly string[]).includes(resource)

/** A deal's activities are also about its primary contact, so that the contact's timeline has them. */
export function aboutRecord(resource: Subject, record: AnyRecord): About {
  const self = { [resource]: { id: record.id, name: nameOf(record) } }
  return resource === 'deal' ? { ...self, contact: namedBy(record, 'primary_contact') } : self
}

export function aboutActivity(activity: AnyRecord): About {
  return Object.fromEntries(subjects.map(subject => [subject, namedBy(activity, subject)]))
}

function namedBy(record: AnyRecord, field: string): Named | undefined {
  const id = record[field]
  if (typeof id !== 'number') return undefined
  const known = record._expanded?.[field] as Named | null | undefined
  return { id, name: known?.name ?? null }
}

/** The values of an activity's fields. */
export const idsOf = (about: About): { readonly [subject: string]: number } =>
  Object.fromEntries(subjects.flatMap(subject => (about[subject] ? [[subject, about[subject].id]] : [])))

/** The names of the records, for the head of a dialog; undefined if none is known. */
export const detailOf = (about: About): string | undefined =>
  subjects.flatMap(subject => about[subject]?.name ?? []).join(' · ') || undefined

/** The subject that an activity belongs to first. */
export const mainOf = (about: About): Subject | null => subjects.find(subject => about[subject]) ?? null
