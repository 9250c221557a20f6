/**
 * The schemas of every field describe its input and output (D90). The schema accepts every input that
 * the kind accepts. An input that only the schema accepts is refused for one of the reasons below, which no
 * schema can express.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { ResourceSchema } from '../../src/fields/catalog.ts'
import type { Field } from '../../src/fields/field.ts'
import type { FieldType } from '../../src/fields/kinds.ts'
import { type Json, parseExactly } from '../../src/json.ts'
import { parseRecord } from '../../src/records/parse.ts'
import { resources } from '../../src/resources/resources.ts'
import { type Generator, random, valueBy } from '../support/generated.ts'
import { judgeOf } from '../support/judge.ts'
import { samples } from '../support/kind-samples.ts'
import { seed, shareOf } from '../support/questions.ts'
import { triedSamples } from '../support/samples.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { get, db, known } = service
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

/** The codes of a kind's refusals of a value; none if it accepts it. */
function refusals(schema: ResourceSchema, { internal_name: name }: Field, text: string): string[] {
  const body = parseExactly(`{${JSON.stringify(name)}:${text}}`)
  const { problems } = parseRecord(body, schema, catalog, {})
  return problems.kept
    .filter(({ path }) => path === `/${name}` || path.startsWith(`/${name}/`))
    .map(({ code }) => code)
}

/** Null if schema and kind agree about a value. */
function disagreement(schema: ResourceSchema, field: Field, value: Json): string | null {
  const text = JSON.stringify(value)
  const pointer = `#/components/schemas/${schema.resource.name}_input/properties/${field.internal_name}`
  const complaint = sent.complaint(pointer, JSON.parse(text))
  const codes = refusals(schema, field, text)
  const shown = text.slice(0, 300)
  if (complaint) return codes.length ? null : `${shown} is taken, but the schema says ${complaint}`
  const wrong = codes.filter(code => !ofNumberTexts(code, text) && !unsaid[field.type]?.(code, text))
  return wrong.length ? `the schema takes ${shown}, which is refused: ${wrong}` : null
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
