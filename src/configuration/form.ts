/** The form of a resource: its sections, and the place of each field in them (D34, D36). Pure. */
import { createHash } from 'node:crypto'
import { customSection, type ResourceSchema, type Section } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { asText, isObject, type Json, pointerStep } from '../json.ts'
import { nameOf, type Validation } from './validation.ts'

/** The current form: every field shown, including inactive ones. */
export function formOf({ fields }: ResourceSchema): Section[] {
  const shown = fields.filter(field => !field.is_hidden && !field.deleted_at)
  const titles = [...new Set(shown.map(field => field.section))]
  return titles.map(section => ({
    section,
    fields: shown.filter(field => field.section === section).map(field => field.internal_name),
  }))
}

/** The stored form, with the deleted fields in their sections. */
export function storedForm(schema: ResourceSchema): Section[] {
  return withUnseen(schema, formOf(schema))
}

/** The version of a form (D7): a hash of its content. */
export function formVersion(form: readonly Section[]): string {
  return createHash('sha256').update(JSON.stringify(form)).digest('base64url').slice(0, 22)
}

/**
 * The form with a field moved to a section (null: its own; a new title appends a section) and a position in
 * it, from 1.
 */
export function moved(
  schema: ResourceSchema,
  name: string,
  section: string | null,
  position: number | null,
): Section[] {
  const form = formOf(schema)
  const title = section ?? form.find(part => part.fields.includes(name))?.section ?? customSection
  if (!form.some(part => part.section === title)) form.push({ section: title, fields: [] })
  const placed = form.map(part => {
    const others = part.fields.filter(other => other !== name)
    if (part.section !== title) return { ...part, fields: others }
    const at = position === null ? others.length : position - 1
    return { ...part, fields: [...others.slice(0, at), name, ...others.slice(at)] }
  })
  return withUnseen(schema, placed)
}

/** The form in a body: each field exactly once, in titled sections. */
export function newForm(body: Json, schema: ResourceSchema, validation: Validation): Section[] {
  if (!Array.isArray(body)) {
    validation.reject(
      '',
      'wrong_type',
      'must be an array of sections',
      'For example [{"section":"Basic information","fields":["title"]}].',
    )
    return []
  }
  const expected = new Set(formOf(schema).flatMap(part => part.fields))
  if (body.length > expected.size) {
    validation.reject('', 'too_many', `has at most ${expected.size} sections, each with at least one field`)
    return []
  }
  const seen = new Set<string>()
  const titles = new Set<string>()
  const form = body.map((part, index) => {
    const { section, fields: names, ...others } = isObject(part) ? part : {}
    for (const other of Object.keys(others))
      validation.reject(`/${index}/${pointerStep(other)}`, 'unknown_field', 'is not a member of a section')
    const title = nameOf(section, `/${index}/section`, validation)
    if (title && titles.has(title))
      validation.reject(
        `/${index}/section`,
        'name_taken',
        `is "${title}", which is the title of another section`,
      )
    if (title) titles.add(title)
    if (!Array.isArray(names))
      validation.reject(`/${index}/fields`, 'wrong_type', 'must be an array of names of fields')
    else if (names.length === 0)
      validation.reject(`/${index}/fields`, 'required', 'must name at least one field')
    const known = (Array.isArray(names) ? names : []).map((name, place) => {
      const path = `/${index}/fields/${place}`
      if (typeof name !== 'string' || !expected.has(name))
        validation.reject(path, 'unknown_field', `is not the name of a field of ${schema.resource.name}`)
      else if (seen.has(name))
        validation.reject(path, 'contradiction', `is "${name}", which stands in the form already`)
      else seen.add(name)
      return asText(name)
    })
    return { section: title ?? '', fields: known }
  })
  const missing = [...expected].filter(name => !seen.has(name))
  if (missing.length)
    validation.reject(
      '',
      'required',
      `Every field needs a place in the form; these are missing: ${missing.join(', ')}`,
    )
  return form
}

/**
 * The form with the fields that its author can't see: they keep their sections, and a section with no other
 * field keeps its place behind the one before it. Deleted fields are among them, in case they are restored.
 */
export function withUnseen(
  { fields }: ResourceSchema,
  form: readonly Section[],
  isUnseen: (field: Field) => boolean = () => false,
): Section[] {
  const titles = form.map(({ section }) => section)
  const before = [...new Set(fields.map(({ section }) => section))]
  for (const [index, title] of before.entries())
    if (!titles.includes(title)) titles.splice(index && titles.indexOf(before[index - 1]!) + 1, 0, title)
  const sections = titles.map(section => {
    const seen = form.find(part => part.section === section)?.fields ?? []
    const unseen = fields
      .filter(field => (field.deleted_at || isUnseen(field)) && field.section === section)
      .map(field => field.internal_name)
    return { section, fields: [...seen, ...unseen.filter(name => !seen.includes(name))] }
  })
  return sections.filter(({ fields }) => fields.length > 0)
}
