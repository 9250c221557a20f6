/**
 * A body → typed values (D4, D5, D6). Parsing finds every problem at once, throws nothing and does no I/O. It
 * knows fields, but no particular resource. The statement that writes the record checks its references.
 */
import { Problems, sentence, type Warning } from '../errors.ts'
import { isBlank, isHollow } from '../fields/blank.ts'
import { type Catalog, type ResourceSchema, shownField } from '../fields/catalog.ts'
import { emptyValue, type Field, type ParseContext, type Values } from '../fields/field.ts'
import { asList, howToWrite, isLikeList } from '../fields/kinds/how-to-write.ts'
import { kinds } from '../fields/kinds.ts'
import { placeOf, unknownMemberHint } from '../fields/unknown-field.ts'
import { isObject, isSameJson, type Json, type JsonObject, pointerStep } from '../json.ts'
import { defaultOf, fillOrRequire } from './fill.ts'
import { type FindBy, findByOf } from './find-by.ts'
import { type Match, NameLookup, tooManyNames } from './name-lookup.ts'
import { nameProblem } from './names.ts'
import { ignoredWarning } from './read-only.ts'
import { sizeProblem } from './record-size.ts'
import { refuseWrapper, wrapperOf } from './wrapped-body.ts'

/** A related record whose existence is still to be checked. */
export type Reference = {
  readonly resource: string
  readonly id: number
  readonly field: string
  readonly path: string
  /** origin of the reference: the stored record, or a default; absent: the request */
  readonly by?: 'before' | 'default'
}

export type Parsed = {
  /** stored form of the fields sent and, on create, of the defaults; null clears */
  readonly values: Values
  readonly sent: ReadonlySet<string>
  readonly problems: Problems
  readonly warnings: Warning[]
  readonly references: Reference[]
  /** records to be created with this one (D11), each after those that it points to */
  readonly nested: Nested[]
  /** JSON pointer of the record in the body */
  readonly path: string
}

/** State that a body and its nested records share. */
export type ParseState = Pick<Parsed, 'problems' | 'warnings' | 'references' | 'nested'> & {
  readonly catalog: Catalog
  /** absent where a name can't stand for an id */
  readonly names?: NameLookup
  /** set if warnings must not depend on the stored record, which the author may not read (D65) */
  readonly hidesStored?: boolean
}

/**
 * A record to be created with another. It has no id yet: in the values of other records, `temporaryId`, a
 * number below zero, stands for its id.
 */
export type Nested = {
  readonly temporaryId: number
  readonly schema: ResourceSchema
  readonly parsed: Parsed
  /** the JSON that was sent; the same JSON twice makes one record */
  readonly payload: () => string
  /** the `find_by` lookup, which must match no record when this one is written */
  readonly findBy: FindBy
}

/** Members that a read may add and a write ignores silently (D11). */
const silentlyIgnored = new Set(['_expanded'])

/** True if a nested record may have the member: a field that the caller sees, or one beside the fields. */
export function isKnownMember(name: string, schema: ResourceSchema): boolean {
  return name === 'find_by' || silentlyIgnored.has(name) || shownField(schema, name) !== null
}

/**
 * Parses a body against the account's fields. `before` is the stored record of an update, null on create;
 * `names` resolves the names in the body; `hidesStored` as of `ParseState`.
 */
export function parseRecord(
  body: Json,
  schema: ResourceSchema,
  catalog: Catalog,
  before: Values | null,
  names: NameLookup = new NameLookup(),
  hidesStored = false,
): Parsed {
  return parseWithin(body, schema, before, { ...newParseState(catalog), names, hidesStored }, '')
}

/** The state before a body is parsed. */
export function newParseState(catalog: Catalog): ParseState {
  return { catalog, problems: new Problems(), warnings: [], references: [], nested: [] }
}

/** Parses a record within a body: `state` is that of the whole body, `path` the record's place in it. */
function parseWithin(
  body: Json,
  schema: ResourceSchema,
  before: Values | null,
  state: ParseState,
  path: string,
): Parsed {
  const { catalog, problems, warnings } = state
  const sent = new Set(isObject(body) ? Object.keys(body) : [])
  const parsed: Parsed & ParseState = { ...state, values: {}, sent, path }
  if (!isObject(body)) {
    problems.add(
      () => ({ field: null, path, code: 'wrong_type', message: 'The body must be a JSON object of fields.' }),
      Array.isArray(body) ? severalHint : undefined,
    )
    return parsed
  }
  const wrapper = wrapperOf(body, sent, schema)
  if (wrapper !== undefined) {
    refuseWrapper(wrapper, path, problems)
    for (const name of sent) if (placeOf(name)) refuseUnknown(name, schema, parsed)
    // Reports the problems of the wrapped fields at once, too; of several records, those of the first.
    const [inner, at] = Array.isArray(body[wrapper]) ? [body[wrapper][0]!, '/0'] : [body[wrapper]!, '']
    const place = `${path}/${pointerStep(wrapper)}${at}`
    return parseWithin(inner, schema, before, state, place)
  }
  for (const name of sent) {
    const field = shownField(schema, name)
    if (!field) refuseUnknown(name, schema, parsed)
    else if (field.is_read_only) {
      warnings.push(ignoredWarning(name, body, state.hidesStored ? null : before, schema, catalog, path))
    } else parseMember(field, body, schema, before, parsed)
  }
  // A role may hide fields; their defaults apply all the same (D64).
  for (const field of schema.whole.fields) {
    const { internal_name: name } = field
    if (!sent.has(name) || schema.byName.get(name)?.is_read_only) fillOrRequire(field, schema, before, parsed)
  }
  const tooLong = sizeProblem(schema, before, parsed.values, path)
  if (tooLong) problems.add(() => tooLong)
  return parsed
}

const severalHint =
  'Send one object. Several deals, products, contacts, companies or activities go to ' +
  'POST …/{resource}/batch.'

function parseMember(
  field: Field,
  body: Values,
  schema: ResourceSchema,
  before: Values | null,
  parsed: Parsed & ParseState,
): void {
  const beside = (name: string) => {
    if (Object.hasOwn(body, name) && !schema.byName.get(name)?.is_read_only) return body[name]!
    // A field that the role hides or locks has its default all the same (D64).
    return before ? (before[name] ?? null) : defaultOf(schema.whole.byName.get(name)!)
  }
  const strict = parseContextOf(field, `${parsed.path}/${field.internal_name}`, parsed, beside)
  const input = body[field.internal_name]!
  const stored = before?.[field.internal_name] ?? null
  // A stored value can be written back, also if a limit of the field is narrower by now (D4).
  let isSame: boolean | null = null
  const isSameAsStored = () => {
    isSame ??= before !== null && isSameJson(input, stored)
    return isSame
  }
  const problem: typeof strict.problem = (...told) => (isSameAsStored() ? undefined : strict.problem(...told))
  const context: ParseContext = { ...strict, problem }
  const missing = () => strict.problem('required', 'must not be empty', { hint: () => howToWrite(field) })
  if (field.is_required && isBlank(input)) {
    missing()
    return
  }
  const kind = kinds[field.type]
  const read = input === null ? null : kind.parse(input, context, stored)
  const value = read === undefined && isSameAsStored() ? stored : read
  if (value === undefined) return
  // An address without a line is sent as an object, and is empty all the same.
  if (field.is_required && isHollow(value)) {
    missing()
    return
  }
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
  parsed.values[field.internal_name] = isEmpty ? emptyValue(field, kind) : value
}

/** The context in which a field's value is parsed; `state` collects its problems, warnings and references. */
export function parseContextOf(
  field: Field,
  path: string,
  state: ParseState,
  beside: ParseContext['beside'] = () => null,
): ParseContext {
  const { internal_name: name } = field
  const { catalog } = state
  const problem: ParseContext['problem'] = (code, message, { at = '', hint, ...more } = {}) => {
    const told = { field: name, path: path + at, code }
    // Forms send an empty text for an empty field.
    const isEmpty = at === '' && !field.is_required && beside(name) === ''
    const help = isEmpty ? 'Send null for no value.' : hint
    state.problems.add(() => ({ ...told, message: sentence(`/${name}${at}`, message), ...more }), help)
    return undefined
  }
  const reference = (resource: string, id: number, at = '') => {
    state.references.push({ resource, id, field: name, path: path + at })
    return id
  }
  const linked = (resource: string, text: string, matches: readonly Match[], at: string) => {
    const wrong = nameProblem(resource, text, matches, state.names?.near(resource, text))
    if (!wrong) return reference(resource, matches[0]!.id, at)
    const { code, message, ...more } = wrong
    const isOfSeveral = at === '' && matches.length === 0 && Array.isArray(kinds[field.type].empty)
    const areSeveral = isOfSeveral && isLikeList(text)
    return problem(code, message, { at, ...more, ...(areSeveral && { hint: () => asList(text) }) })
  }
  return {
    field,
    path,
    catalog,
    beside,
    problem,
    reference,
    warn: (code, message, at = '') => {
      state.warnings.push({ field: name, path: path + at, code, message: `${message}.` })
    },
    create: (resource, payload, at = '') => {
      const first = state.problems.listed.length
      const findBy = findByOf(payload, catalog.resources.get(resource)!, path + at, state)
      if (!findBy) return refuseNested(resource, payload, path + at, state, first)
      if (findBy.matches?.length) return linked(resource, findBy.shown, findBy.matches, at)
      return createNested(resource, payload, path + at, state, findBy)
    },
    named: (resource, text, at = '') => {
      const { names } = state
      if (!names || !catalog.resources.get(resource)?.resource.namedBy)
        return problem('wrong_type', `must be the id of a ${resource} (a whole number)`, { at })
      const matches = names.matches(resource, text)
      if (names.areTooMany) return problem('too_many', tooManyNames, { at })
      return matches ? linked(resource, text, matches, at) : undefined
    },
  }
}

/**
 * Parses a nested record; its problems have their path in the whole body. The same person sent twice becomes
 * one contact.
 */
function createNested(
  resource: string,
  body: JsonObject,
  path: string,
  state: ParseState,
  findBy: FindBy,
): number {
  const schema = state.catalog.resources.get(resource)!
  const { find_by: _, ...members } = body
  let text: string | undefined
  const payload = () => {
    text ??= JSON.stringify(members)
    return text
  }
  const isSame = (other: Nested) =>
    other.payload() === payload() || other.findBy.texts.some(text => findBy.texts.includes(text))
  // In the first pass no match is known, so each is parsed: its names are looked up, whether it is linked or
  // created.
  const same = findBy.matches && state.nested.find(other => other.schema === schema && isSame(other))
  if (same) return same.temporaryId
  const parsed = parseWithin(members, schema, null, state, path)
  const temporaryId = -1 - state.nested.length
  state.nested.push({ temporaryId, schema, parsed, payload, findBy })
  return temporaryId
}

/** Reports what else is wrong with a nested record; the problems from `first` on refuse its `find_by`. */
function refuseNested(
  resource: string,
  body: JsonObject,
  path: string,
  state: ParseState,
  first: number,
): undefined {
  const schema = state.catalog.resources.get(resource)!
  const { find_by: _, ...members } = body
  const reported = new Set(state.problems.listed.slice(first).map(problem => problem.path))
  const own = { ...state, ...newParseState(state.catalog) }
  parseWithin(members, schema, null, own, path)
  for (const problem of own.problems.listed)
    if (!reported.has(problem.path)) state.problems.add(() => problem)
}

function refuseUnknown(name: string, schema: ResourceSchema, parsed: Parsed & ParseState): void {
  const { catalog, problems, path } = parsed
  if (silentlyIgnored.has(name)) return
  const message = `There is no field "${name}".`
  problems.add(
    () => ({ field: name, path: `${path}/${pointerStep(name)}`, code: 'unknown_field', message }),
    () => unknownMemberHint(name, schema, catalog),
  )
}
