/**
 * The schemas of every field describe its input and output (D90). The schema accepts every input that
 * the kind accepts. An input that only the schema accepts is refused for one of the reasons below, which no
 * schema can express.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { merged } from '../../scripts/breaking-changes.ts'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { ResourceSchema } from '../../src/fields/catalog.ts'
import type { Field, Values } from '../../src/fields/field.ts'
import type { FieldType } from '../../src/fields/kinds.ts'
import { isObject, type Json, parseExactly, parseJson } from '../../src/json.ts'
import { parseRecord } from '../../src/records/parse.ts'
import { resources } from '../../src/resources/resources.ts'
import { type Generator, random, valueBy } from '../support/generated.ts'
import { judgeOf, type OpenApi } from '../support/judge.ts'
import { samples } from '../support/kind-samples.ts'
import { seed, shareOf } from '../support/questions.ts'
import { sampleBody, triedSamples } from '../support/samples.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, get, db, known } = service
// Every type has a field.
await triedSamples(service)
const catalog = await loadCatalog(db, resources, 1)
const document = JSON.parse((await get('/openapi.json')).text)
/** Input is validated as clients validate it, output down to the member. */
const [sent, read] = [judgeOf(document, false), judgeOf(document)]

/** True if no schema can express the reason of a refusal. */
type Unsaid = (code: string, text: string) => boolean
const of =
  (...codes: string[]): Unsaid =>
  code =>
    codes.includes(code)
/** Days that a month may not have, and years at the ends of the calendar, moved beyond them by an offset. */
const mayNotBe = /-(?:29|30|31)(?!\d)|(?<!\d)(?:0000|0001|9999)-/
const date =
  (code: string): Unsaid =>
  (found, text) =>
    found === code && mayNotBe.test(text)
const either =
  (...reasons: Unsaid[]): Unsaid =>
  (code, text) =>
    reasons.some(reason => reason(code, text))

/** A number sent as text, if a kind accepts that. */
const ofNumberTexts: Unsaid = (code, text) =>
  ['out_of_range', 'too_many_decimals'].includes(code) && /"\s*[+-]?[\d.]/.test(text)
const characters = of('invalid_characters')
const amount = of('too_long', 'too_many_decimals', 'out_of_range', 'unknown_currency')
const option = of('unknown_option', 'inactive_option')
const moneySent = either(amount, of('currency_required'))

/** Existence of a named record; and the members of a look-up, which are of all types. */
const names = either(
  of('reference_not_found', 'invalid_characters', 'too_long'),
  (_code, text) => text.includes('"find_by"'),
  // Resources whose records have no names.
  (code, text) => code === 'wrong_type' && text.includes('"'),
)

const unsaid: { readonly [type in FieldType]?: Unsaid } = {
  // A number in place of a text is as long as its decimal text.
  SINGLE_STRING: either(characters, (code, text) => code === 'too_long' && /^-?\d/.test(text)),
  TEXT: characters,
  SINGLE_NUMBER: either(of('too_long', 'too_many_decimals'), (_code, text) => Math.abs(+text) > 2 ** 53),
  DROPDOWN: option,
  MULTISELECT: either(option, of('too_many')),
  ADDRESS: either(characters, (code, text) => code === 'too_long' && /"zipcode":-?\d/.test(text)),
  // Nested new records have fields of all types.
  CONTACT_ONBOARD: either(names, characters, option, amount, of('too_many', 'currency_required')),
  COMPANY_ONBOARD: either(names, characters, option, amount, of('too_many', 'currency_required')),
  CONTACTS_ONBOARD: either(names, characters, option, amount, of('too_many', 'currency_required')),
  OWNER: names,
  TERRITORY: names,
  COMPANY: names,
  CONTACT: names,
  TAGS: either(names, of('too_many')),
  TERRITORIES: either(names, of('too_many')),
  STRING_LIST: characters,
  DEAL_VALUE: either(moneySent, names),
  MONETARY: moneySent,
  PRICE_TAGS: either(amount, of('too_many', 'duplicate_currency', 'contradiction')),
  EMAIL: characters,
  DATE: date('invalid_date'),
  DATE_TIME: date('invalid_date_time'),
  DATE_RANGE: either(date('invalid_date_time'), of('range_backwards')),
  DATE_TIME_RANGE: either(date('invalid_date_time'), of('range_backwards')),
  JSON: either(characters, of('too_deep', 'too_long')),
}

/** The codes of a kind's refusals of a value; none if it accepts it. `before`: null for a new record. */
function refusals(
  schema: ResourceSchema,
  { internal_name: name }: Field,
  text: string,
  before: Values | null,
): string[] {
  const body = parseExactly(`{${JSON.stringify(name)}:${text}}`)
  const { problems } = parseRecord(body, schema, catalog, before)
  return problems.listed
    .filter(({ path }) => path === `/${name}` || path.startsWith(`/${name}/`))
    .map(({ code }) => code)
}

/** The pointers to the schemas of a field in the body of an update or, if `isNew`, of a creation. */
function pointersTo({ resource: { name } }: ResourceSchema, { internal_name: field }: Field, isNew: boolean) {
  const parts: OpenApi[] = (isNew && document.components.schemas[`${name}_new`]?.allOf) || []
  const refined = parts.findIndex(part => part.properties?.[field])
  const own = refined < 0 ? [] : [`${name}_new/allOf/${refined}`]
  return [`${name}_input`, ...own].map(path => `#/components/schemas/${path}/properties/${field}`)
}

/** Null if schema and kind agree about a value, of an update or, if `isNew`, of a creation. */
function disagreement(schema: ResourceSchema, field: Field, value: Json, isNew = false): string | null {
  const text = JSON.stringify(value)
  const complaints = pointersTo(schema, field, isNew).flatMap(
    pointer => sent.complaint(pointer, JSON.parse(text)) ?? [],
  )
  const complaint = complaints[0] ?? null
  const codes = refusals(schema, field, text, isNew ? null : {})
  const shown = text.slice(0, 300)
  if (complaint) return codes.length ? null : `${shown} is taken, but the schema says ${complaint}`
  const wrong = codes.filter(code => !ofNumberTexts(code, text) && !unsaid[field.type]?.(code, text))
  return wrong.length ? `the schema takes ${shown}, which is refused: ${wrong}` : null
}

/** The value, with null in the place of each part of it, and for each member that the schema has beside. */
function withNulls(value: Json, schema: OpenApi): Json[] {
  const parts = partsOf(schema)
  if (Array.isArray(value)) {
    const items = parts.find(part => part.items)?.items
    return [null, ...value.flatMap((item, at) => withNulls(item, items).map(one => value.with(at, one)))]
  }
  if (!isObject(value)) return [null]
  const members: { [name: string]: OpenApi } = Object.assign({}, ...parts.map(part => part.properties))
  const all = new Set([...Object.keys(members), ...Object.keys(value)])
  return [
    null,
    ...[...all].flatMap(name =>
      withNulls(value[name] ?? null, members[name]).map(one => ({ ...value, [name]: one })),
    ),
  ]
}

/** A schema and all that it is made of, without references. */
function partsOf(schema: OpenApi): OpenApi[] {
  const whole = schema?.$ref ? merged(schema, document) : (schema ?? {})
  return [whole, ...[...(whole.anyOf ?? []), ...(whole.allOf ?? [])].flatMap(partsOf)]
}

/** Values beside the samples: with members that stand for others. */
const further: { readonly [type in FieldType]?: readonly Json[] } = {
  PRICE_TAGS: [[{ currency: 'USD', price: 5 }], [{ currency: 'USD', unit_price: 5, price: 5 }]],
  DEAL_VALUE: [{ currency: 'USD', value: 5, products: [{ product: 1, quantity: 1, unit_price: 2 }] }],
}

const generator = (seed: number, beyond: number): Generator => ({
  document,
  next: random(seed),
  beyond,
  given: () => undefined,
})
/** Numbers with larger exponents are no amounts (D14), which no schema expresses. */
const isUsual = (value: Json): boolean =>
  typeof value !== 'number' || value === 0 || (Math.abs(value) < 1e99 && Math.abs(value) > 1e-99)

for (const resourceSchema of catalog.resources.values()) {
  const written = resourceSchema.fields.filter(
    field => field.is_active && !field.is_hidden && !field.is_read_only,
  )
  for (const field of written) {
    const { internal_name: name, type } = field
    const schema = document.components.schemas[`${resourceSchema.resource.name}_input`].properties[name]
    test(`${resourceSchema.resource.name}.${name}, ${type}: the schema takes what the kind takes`, () => {
      const sample = samples(known)[type]
      const found = [...(sample?.good ?? []), ...(sample?.bad ?? [])].map(({ input }) =>
        disagreement(resourceSchema, field, input),
      )
      assert.deepEqual(found.filter(Boolean), [])
      const good = [...(sample?.good ?? []).map(({ input }) => input), ...(further[type] ?? []), null]
      const nulls = good.flatMap(value => withNulls(parseJson(JSON.stringify(value)), schema))
      const differing = [false, true].flatMap(isNew =>
        nulls.map(value => disagreement(resourceSchema, field, value, isNew)),
      )
      assert.deepEqual(differing.filter(Boolean), [])
      const values = fc.oneof(
        fc
          .tuple(fc.nat(), fc.constantFrom(0, 0.1, 0.4))
          .map(([seed, beyond]) => valueBy(generator(seed, beyond), schema)),
        fc
          .jsonValue({ maxDepth: 2 })
          .map(value => value as Json)
          .filter(isUsual),
      )
      fc.assert(
        fc.property(values, value => {
          assert.equal(disagreement(resourceSchema, field, value), null)
        }),
        { seed, numRuns: shareOf(150) },
      )
    })
  }
}

/** Refusals of null that come from the record or from other rules than that of the field's kind. */
const byRules: { readonly [field: string]: string } = {
  // An update must not clear these; a creation takes null for the default, by the same schema.
  ...{ 'user.role': 'required', 'user.is_active': 'required' },
  ...{ 'webhook.is_active': 'required', 'webhook.user': 'required' },
  'deal.expected_close_date': 'required_with_forecast_category',
  // Any other value is refused, too.
  ...{ 'token.user': 'immutable', 'pipeline_stage.kind': 'immutable' },
}

test('null is taken by an update of a record where the schema says so', async () => {
  const found: string[] = []
  for (const { resource } of catalog.resources.values()) {
    const { name } = resource
    const list = await get(`${v1}/${name}/view/list?pageSize=1`)
    const first = list.body.data[0] ?? (await service.made(name, await sampleBody(service, resource)))
    const members = document.components.schemas[`${name}_input`].properties
    for (const member of Object.keys(members).filter(one => !members[one].readOnly)) {
      const pointer = `#/components/schemas/${name}_input/properties/${member}`
      const isTaken = sent.complaint(pointer, null) === null
      const dry = name === 'webhook' ? '' : '?dry_run=1'
      const { status, body, text } = await call('PATCH', `${v1}/${name}/${first.id}${dry}`, {
        [member]: null,
      })
      const codes = (body.errors ?? []).map(({ code }: { code: string }) => code)
      const isSaid = isTaken === (status === 200) || (isTaken && codes.includes(byRules[`${name}.${member}`]))
      if (!isSaid) found.push(`${name}.${member}: ${isTaken ? 'taken' : 'refused'} by the schema; ${text}`)
    }
  }
  assert.deepEqual(found, [])
})

test('every record is read as its schema says', async () => {
  let count = 0
  for (const resource of catalog.resources.keys()) {
    const { text } = await get(`${v1}/${resource}/view/list?pageSize=500`)
    const page = JSON.parse(text)
    assert.equal(read.complaint(pagePointer(resource), page), null)
    for (const record of page.data) {
      assert.equal(read.complaint(`#/components/schemas/${resource}_read`, record), null)
      count++
    }
  }
  assert.ok(count > 500)
})

function pagePointer(resource: string): string {
  return `#/paths/~1rest~1api~1v1~1${resource}~1view~1list/get/responses/200/content/application~1json/schema`
}
