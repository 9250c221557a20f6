/** A new contact or company that is created with the record that refers to it (D12). */

export type NewRelated = { readonly [member: string]: unknown }

export function newRelated(resource: string, typed: string): NewRelated {
  const text = typed.trim()
  if (resource !== 'contact') return { name: text || null }
  const mail = /[^\s<>@]+@[^\s<>@]+/.exec(text)?.[0]
  const person = mail
    ? text
        .replace(/<[^>]*>/g, '')
        .replace(mail, '')
        .trim()
    : text
  const words = (person || (mail ? mail.split('@')[0]!.replace(/[._]+/g, ' ') : '')).split(/\s+/)
  const named = words.map(word => (person ? word : word.charAt(0).toLocaleUpperCase() + word.slice(1)))
  return {
    first_name: named.slice(0, -1).join(' ') || null,
    last_name: named.at(-1) || null,
    ...(mail ? { emails: [{ email_type: 1, email_value: mail }] } : {}),
  }
}

export const isNew = (value: unknown): value is NewRelated => typeof value === 'object' && value !== null

/** Removes empty members. */
export function writeNew(value: NewRelated): NewRelated {
  const given = Object.entries(value).filter(
    ([, member]) => member !== null && !(Array.isArray(member) && member.length === 0),
  )
  return Object.fromEntries(
    given.map(([name, member]) => [name, isNested(member) ? writeNew(member) : member]),
  )
}

const isNested = (member: unknown): member is NewRelated => isNew(member) && !Array.isArray(member)

export function textOfNew({ name, first_name, last_name }: NewRelated): string {
  return String(name ?? [first_name, last_name].filter(Boolean).join(' '))
}

/** The first e-mail of a new contact, or nothing. */
export function mailOf({ emails }: NewRelated): string {
  const [first] = Array.isArray(emails) ? (emails as { email_value?: string }[]) : []
  return first?.email_value?.trim() ?? ''
}

/** The problems within the value of a field, by its members. */
export function problemsWithin(
  problems: { readonly [place: string]: string },
  name: string,
): { readonly [member: string]: string } {
  const inner = Object.entries(problems).filter(([place]) => place.startsWith(`${name}.`))
  return Object.fromEntries(inner.map(([place, problem]) => [place.slice(name.length + 1), problem]))
}
