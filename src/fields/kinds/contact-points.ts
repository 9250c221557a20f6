/**
 * PHONE and EMAIL: arrays of typed entries (D13). An unknown type, also a blank one, becomes Work, with a
 * warning; a missing one is a problem.
 */
import type { ProblemCode } from '../../errors.ts'
import { isObject, isPresent, type Json } from '../../json.ts'
import { sql } from '../../sql.ts'
import { isStorable } from '../code-points.ts'
import { containedAt, type Expression, jsonDocument } from '../columns.ts'
import type { Field, Kind, ParseContext, Schemas, TextSearch } from '../field.ts'
import { comparedName } from '../name.ts'
import { type Alike, equality, textual } from '../term.ts'
import { findOption } from './dropdown.ts'
import { knownMembers } from './known-members.ts'
import { items, jsonArray } from './multiselect.ts'
import { arrayOf, closedObject, oneOrMore, openObject } from './schemas.ts'
import { checkedText } from './text.ts'

export const phoneTypes = entryTypes('work', 'phone', 'mobile', 'whatsapp', 'telegram', 'personal', 'other')
export const emailTypes = entryTypes('work', 'personal', 'home', 'other')

const phonePattern = /^(?=\D*\d)[-+\d\s()./#*,;a-zA-Z]+$/u

export const phone = contactPoints(
  'phone_type',
  phoneTypes,
  'phone_number',
  { pattern: phonePattern, code: 'invalid_phone', message: 'must be a phone number' },
  // The interface's limit applies to custom fields. A contact's own numbers have room for an extension.
  ({ is_custom }) => ({ min_length: 5, max_length: is_custom ? 17 : 40 }),
  {
    sql: column => sql`phone_digits(${column})`,
    texts: value => members(value, 'phone_number'),
    isOfDigits: true,
  },
)

// One @, no spaces, no dot at the beginning, before the @ or beside another, and a domain of at least two
// labels: the outer shape in RFC 5321; no invisible character. Only sending a mail can verify that the
// mailbox exists.
const emailPattern =
  /^(?!\.)(?!.*\.[.@])[^\s@"(),:;<>[\\\]\p{Cc}\p{Default_Ignorable_Code_Point}]+@[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?(?:\.[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?)+$/u

const emails = contactPoints(
  'email_type',
  emailTypes,
  'email_value',
  { pattern: emailPattern, code: 'invalid_email', message: 'must be a valid e-mail address' },
  () => ({ min_length: 3, max_length: 320 }),
  { sql: column => sql`fold(email_values(${column}))`, texts: value => members(value, 'email_value') },
)

/** Addresses are compared case-insensitively (D88). */
export const email: Kind = {
  ...emails,
  unique: {
    member: 'email_value',
    compared: comparedName,
    key: text => sql`unique_key(${text})`,
    texts: value => items(value).map(entry => (entry as { email_value: string }).email_value),
    value: text => (isStorable(text) ? [{ email_type: emailTypes[0]!.id, email_value: text }] : null),
  },
  term: (field, member) => {
    const term = emails.term(field, member)
    // The field as a whole is compared by its addresses, too.
    if (!term || member === 'email_type') return term
    const { contained: _, ...rest } = term
    return { ...rest, alike: alikeEmails(field) }
  },
}

/** Custom e-mails have one index a table, with the addresses of all such fields. */
function alikeEmails(field: Field): Alike {
  const keys =
    (of: Expression): Expression =>
    row =>
      sql`email_keys(${of(row)}) COLLATE "C"`
  return {
    sql: keys(jsonDocument(field)),
    of: comparedName,
    resource: field.resource,
    ...(field.is_custom
      ? {
          indexed: {
            sql: keys(({ alias }) => sql`jsonb_path_query_array(${alias}custom, '$.*[*]')`),
            where: ({ alias }) => sql`${alias}custom @? '$.*[*].email_value'`,
          },
        }
      : {}),
  }
}

/** Default of the maximum number of entries. */
export const entriesMax = 20

/** The form of values, and the problem of another. */
type Form = { readonly pattern: RegExp; readonly code: ProblemCode; readonly message: string }

function contactPoints(
  typeMember: string,
  types: readonly { id: number; name: string }[],
  valueMember: ValueMember,
  form: Form,
  limitsOf: (field: Field) => Pick<Limits, 'min_length' | 'max_length'>,
  searched: TextSearch,
): Kind {
  const { source: pattern } = form.pattern
  const entry = (input: Json, context: ParseContext, at: string): Json | undefined => {
    if (!isObject(input))
      return context.problem('wrong_type', `must be an object with ${typeMember} and ${valueMember}`, {
        at,
        hint: entryHint(input, typeMember, valueMember),
      })
    const known = knownMembers(input, [typeMember, valueMember], context, at)
    const type = entryType(input[typeMember], types, context, `${at}/${typeMember}`)
    const place = `${at}/${valueMember}`
    const value = isPresent(input[valueMember])
      ? checkedText(input[valueMember], context, limitsOf(context.field), place)
      : context.problem('required', 'must be given', { at: place, hint: valueHint(valueMember) })
    const isRight = value !== undefined && isOfForm(value, form, valueMember, context, place)
    if (!isRight || !known || type === undefined) return undefined
    return { [typeMember]: type, [valueMember]: value }
  }
  const typeOperand = (text: string) => {
    const type = findOption(text, types)
    return type ? String(type.id) : { message: `There is no ${typeMember} "${text}"`, hint: typeHint(types) }
  }
  return {
    members: [typeMember, valueMember],
    empty: [],
    searched,
    limits: ['max_limit'],
    columns: field => [{ name: field.internal_name, type: 'jsonb' }],
    parse: (input, context) => {
      const sent = Array.isArray(input) ? input : [input]
      const limit = context.field.config.max_limit ?? entriesMax
      if (sent.length > limit) return context.problem('too_many', `must have at most ${limit} entries`)
      const entries = sent.map((item, index) => entry(item, context, Array.isArray(input) ? `/${index}` : ''))
      return entries.includes(undefined) ? undefined : (entries as Json[])
    },
    schema: field => entrySchemas(field, typeMember, types, valueMember, { ...limitsOf(field), pattern }),
    write: value => [JSON.stringify(items(value))],
    term: (field, member) => {
      if (member !== '' && member !== typeMember && member !== valueMember) return null
      const isType = member === typeMember
      const type = isType ? 'bigint' : 'text'
      return {
        type,
        multi: true,
        sql: jsonArray(jsonDocument(field), type, `$[*].${isType ? typeMember : valueMember}`),
        operators: isType ? equality : textual,
        operand: isType ? typeOperand : text => text,
        order: null,
        ...containedAt(field, type, ['[]', isType ? typeMember : valueMember]),
      }
    },
  }
}

function isOfForm(
  value: string,
  { pattern, code, message }: Form,
  valueMember: ValueMember,
  context: ParseContext,
  at: string,
): boolean {
  if (pattern.test(value)) return true
  const isUnseen = /[\p{Cc}\p{Default_Ignorable_Code_Point}]/u.test(value)
  const hint = isUnseen ? 'It has a character that nobody sees: type it again.' : valueHint(valueMember)
  return context.problem(code, message, { at, hint }) ?? false
}

type ValueMember = 'phone_number' | 'email_value'

const samples = { phone_number: '+1 555 0100', email_value: 'jo@example.com' }

function valueHint(valueMember: ValueMember): string {
  return `For example ${JSON.stringify(samples[valueMember])}.`
}

function entryHint(input: Json, typeMember: string, valueMember: ValueMember): string {
  const value = typeof input === 'string' && input.length <= 320 ? input : samples[valueMember]
  return `For example ${JSON.stringify({ [typeMember]: 'Work', [valueMember]: value })}.`
}

type Limits = { min_length: number; max_length: number; pattern: string }

function entrySchemas(
  { config: { max_limit = entriesMax } }: Field,
  typeMember: string,
  types: readonly { id: number; name: string }[],
  valueMember: string,
  { min_length: minLength, max_length: maxLength, pattern }: Limits,
): Schemas {
  const value = { type: 'string', minLength, maxLength, pattern }
  const description = typeHint(types)
  // Any other type becomes Work.
  const sent = { [typeMember]: { description }, [valueMember]: value }
  const ids = { type: 'integer', enum: types.map(({ id }) => id), description }
  return {
    input: oneOrMore(closedObject(sent, Object.keys(sent)), max_limit),
    output: arrayOf(openObject({ [typeMember]: ids, [valueMember]: { type: 'string' } })),
  }
}

function members(value: Json, member: string): string[] {
  return items(value).map(entry => (isObject(entry) ? String(entry[member]) : ''))
}

function entryType(
  input: Json | undefined,
  types: readonly { id: number; name: string }[],
  context: ParseContext,
  at: string,
): number | undefined {
  if (input === undefined) return context.problem('required', 'must be given', { at, hint: typeHint(types) })
  const known = typeof input === 'number' || typeof input === 'string' ? findOption(input, types) : undefined
  if (!known)
    context.warn('type_defaulted', `${shownInput(input)} is not one of the types; it became Work`, at)
  return known?.id ?? 1
}

function entryTypes(...names: string[]): { id: number; name: string }[] {
  return names.map((name, index) => ({ id: index + 1, name }))
}

function typeHint(types: readonly { id: number; name: string }[]): string {
  return `One of: ${types.map(type => `${type.id} ${type.name}`).join(', ')}.`
}

/** The input, shortened for a message. */
function shownInput(input: Json): string {
  return typeof input === 'object' && input ? 'What was sent' : JSON.stringify(input).slice(0, 60)
}
