/**
 * Fuzzing: random requests over every route and field. No fault, no request without an answer, and a refused
 * one leaves no trace: neither an event nor a key, nor any difference in any record or in the configuration.
 * `npm run fuzz -- --requests 200000 --seed 1`; a seed repeats the requests.
 */
import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { loadCatalog } from '../../src/accounts/callers.ts'
import type { Catalog } from '../../src/fields/catalog.ts'
import { operators } from '../../src/fields/term.ts'
import type { Route } from '../../src/http/route.ts'
import { routes } from '../../src/http/routes.ts'
import { isRawNumber, type Json } from '../../src/json.ts'
import { resources } from '../../src/resources/resources.ts'
import { samples } from '../support/kind-samples.ts'
import { dealBody, type Service, startService } from '../support/service.ts'

export type FuzzTally = {
  requests: number
  saved: number
  refused: number
  faults: number
  hangs: number
  traces: number
}
type Request = { method: string; path: string; body: Json | undefined; headers: { [name: string]: string } }

/** Requests for each service: with ever more records, comparing all of them would take ever longer. */
const batch = 2500
const patienceMs = 30_000

/**
 * Fuzzes a service with `count` requests. `report` takes each defect, with the seed and the position that
 * repeat it.
 */
export async function fuzz(
  service: Service,
  count: number,
  seed: number,
  report: (line: string) => void,
): Promise<FuzzTally> {
  const tally: FuzzTally = { requests: 0, saved: 0, refused: 0, faults: 0, hangs: 0, traces: 0 }
  const catalog = await loadCatalog(service.db, resources, 1)
  const asked = fc.sample(requests(service, catalog), { numRuns: count, seed })
  let before = await traces(service)
  for (const [index, request] of asked.entries()) {
    const status = await answerOf(service, request)
    tally.requests++
    const say = (what: string) =>
      report(`${what}: seed ${seed}, request ${index}: ${JSON.stringify(request).slice(0, 2000)}`)
    if (status === null) {
      tally.hangs++
      say('no answer')
    } else if (status >= 500) {
      tally.faults++
      say(`fault ${status}`)
    }
    const isRefused = status !== null && status >= 400
    if (isRefused) tally.refused++
    else tally.saved++
    // A read needs no comparison, a success changes the baseline.
    if (request.method === 'GET') continue
    const after = await traces(service)
    if (isRefused && after !== before) {
      tally.traces++
      say(`a refused request (${status}) left a trace`)
    }
    before = after
  }
  return tally
}

async function answerOf(service: Service, { method, path, body, headers }: Request): Promise<number | null> {
  const late = new Promise<null>(resolve => setTimeout(resolve, patienceMs, null).unref())
  try {
    return await Promise.race([service.call(method, path, body, headers).then(reply => reply.status), late])
  } catch (error) {
    // fetch itself refuses some headers and addresses: those are never sent.
    if (error instanceof TypeError && !(error.cause instanceof Error && 'code' in error.cause)) return 400
    throw error
  }
}

/** All state that a refused request must not change, as one text. Reserved ids may be lost. */
async function traces({ db }: Service): Promise<string> {
  const rows = (table: string, columns: string) =>
    `(SELECT count(*) || coalesce(md5(string_agg(md5(concat_ws('|', ${columns})), '' ORDER BY x.id)), '') FROM "${table}" x)`
  const records = resources.map(({ name }) =>
    rows(name, 'x.id, x.version, x.document, x.custom, x.deleted_at'),
  )
  const configuration = [rows('field', 'to_json(x)'), rows('option', 'to_json(x)')]
  const [row] = await db.query(
    `SELECT concat_ws(' ', ${[...records, ...configuration].join(', ')}, (SELECT string_agg(md5(sections::text), '') FROM form), ` +
      '(SELECT max(last_seq) FROM counter), (SELECT count(*) FROM event), (SELECT count(*) FROM idempotency), ' +
      "(SELECT string_agg(catalog_version::text, ' ') FROM account)) AS traces",
  )
  return row!.traces!
}

function requests(service: Service, catalog: Catalog): fc.Arbitrary<Request> {
  const table = routes({ callers: { forget() {} } } as never)
  return fc.constantFrom(...table).chain(route => requestOf(route, service, catalog))
}

const strange = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e400',
    'null',
    '\0',
    '\ud800',
    "'",
    '"',
    '%',
    '\\',
    '()',
    '__proto__',
    '𝟙',
    '9'.repeat(40),
    'x'.repeat(300),
  ),
)

function requestOf({ method, url }: Route, { known }: Service, catalog: Catalog): fc.Arbitrary<Request> {
  const id = fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 120 }).map(String) },
    { weight: 2, arbitrary: fc.integer({ min: 1001, max: 1100 }).map(String) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('0', '-1', 'abc', '1.5', '9'.repeat(30), '%00', '%F0%9F', '..', 'view'),
    },
  )
  const source = fc.constantFrom(...catalog.resources.keys())
  const path = fc.tuple(id, id).map(([first, second]) => url.replace(':id', first).replace(':option', second))
  const name = url.split('/')[4] ?? ''
  const fields =
    catalog.resources.get(name)?.fields ?? [...catalog.resources.values()].flatMap(other => other.fields)
  const fieldName = fc.oneof(fc.constantFrom(...fields.map(field => field.internal_name)), strange)
  const operand = fc.oneof(
    strange,
    fc.integer().map(String),
    fc.constantFrom('Open', 'USD', '2026-01-01', '1,2', '"a,b"', 'true', '5,1'),
  )
  const operator = fc.constantFrom(...operators, 'is')
  const condition = fc
    .tuple(fieldName, operator, operand)
    .map(([field, what, value]) => `${field}:${what}(${value})`)
  const filter = fc.oneof(
    condition,
    fc
      .tuple(fc.constantFrom('and', 'or', 'not'), fc.array(condition, { maxLength: 4 }))
      .map(([word, of]) => `${word}(${of.join(',')})`),
    strange,
  )
  const parameter = fc.oneof(
    filter.map(value => ['filter', value] as const),
    fc
      .tuple(fieldName, fc.constantFrom('asc', 'desc', 'up'))
      .map(([field, way]) => ['sort', `${field}:${way}`] as const),
    fc.tuple(
      fc.constantFrom('page', 'pageSize', 'size', 'count', 'deleted', 'cursor', 'pipeline', 'move_to', 'x'),
      operand,
    ),
    fc.tuple(fc.constantFrom('fields', 'expand', 'group_by', 'name'), fieldName),
    source.map(value => ['source', value] as const),
  )
  const query = fc.array(parameter, { maxLength: 3 }).map(pairs => {
    const text = new URLSearchParams(
      pairs.map(([key, value]): [string, string] => [key, value.toWellFormed()]),
    ).toString()
    return text ? `?${text}` : ''
  })
  const header = fc.oneof(
    { weight: 6, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('"1"', '"2"', '*', 'x', '"99999999999"')
        .map(value => ({ 'if-match': value })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('a', 'b', 'c', 'x y').map(value => ({ 'idempotency-key': value })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('text/plain', 'application/json; charset=latin1', 'x')
        .map(value => ({ 'content-type': value })),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom('text/html', 'application/*', '').map(value => ({ accept: value })),
    },
  )
  const headers = header as fc.Arbitrary<{ [name: string]: string }>
  const hasBody = method !== 'GET' && method !== 'DELETE'
  const body = hasBody ? bodyOf(name, url, known, catalog) : fc.constant(undefined)
  return fc.record({
    method: fc.constant(method as string),
    path: fc.tuple(path, query).map(parts => parts.join('')),
    body,
    headers,
  })
}

/**
 * Bodies that are almost valid: a good one with some members replaced by good, bad and strange values; and
 * some that are invalid.
 */
function bodyOf(
  name: string,
  url: string,
  known: Service['known'],
  catalog: Catalog,
): fc.Arbitrary<Json | undefined> {
  const fields = catalog.resources.get(name)?.fields ?? []
  const byType = samples(known)
  const anything = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>
  const inputOf = (type: keyof typeof byType): fc.Arbitrary<Json> => {
    const of = byType[type]
    const inputs = of ? [...of.good, ...of.bad].map(({ input }) => input) : []
    return fc.oneof(
      ...(inputs.length ? [fc.constantFrom(...inputs)] : []),
      strange as fc.Arbitrary<Json>,
      anything,
      fc.constant(null),
    )
  }
  const member = fields.length
    ? fc
        .constantFrom(...fields)
        .chain(field => inputOf(field.type).map(value => [field.internal_name, value] as const))
    : fc
        .constantFrom(
          'source',
          'field_name',
          'type',
          'config',
          'options',
          'default_value',
          'is_required',
          'is_active',
          'position',
          'section',
          'name',
          'is_default',
        )
        .chain(key =>
          fc
            .oneof(
              strange as fc.Arbitrary<Json>,
              anything,
              fc.constantFrom<Json>('deal', 'DROPDOWN', 'TEXT', true, 1),
            )
            .map(value => [key, value] as const),
        )
  const start: { readonly [resource: string]: { [name: string]: Json } } = {
    deal: dealBody(known),
    product: { name: 'x' },
    contact: { last_name: 'x' },
    company: { name: 'x' },
    activity: { kind: 'Call', subject: 'x' },
    user: { name: 'x', email: 'x@example.com' },
    territory: { name: 'x' },
    tag: { name: 'x' },
    pipeline: { name: 'x' },
    pipeline_stage: { name: 'x', pipeline: known.pipeline },
    field: { source: 'deal', field_name: 'Fuzz', type: 'TEXT' },
  }
  const isUpdate = url.includes(':id')
  const near = fc.array(member, { maxLength: 4 }).map(
    (members): Json => ({
      ...(isUpdate ? {} : start[name]),
      ...Object.fromEntries(members.filter(([key]) => key !== '__proto__')),
    }),
  )
  const text = (value: Json) => JSON.stringify(value) ?? 'null'
  return fc.oneof(
    { weight: 10, arbitrary: near },
    { weight: 1, arbitrary: anything },
    { weight: 1, arbitrary: near.map(value => (isRawNumber(value) ? '1' : text(value).slice(0, -1))) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        '{',
        '[[[[',
        '{"a":1,"a":2}',
        '{"__proto__":1}',
        '\ufeff{}',
        '[1e999999999]',
      ),
    },
    { weight: 1, arbitrary: fc.constant(undefined) },
  )
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { requests: { type: 'string', default: '200000' }, seed: { type: 'string', default: '1' } },
  })
  const { test } = await import('node:test')
  const total: FuzzTally = { requests: 0, saved: 0, refused: 0, faults: 0, hangs: 0, traces: 0 }
  for (let round = 0; round * batch < Number(values.requests); round++) {
    await test(`seed ${Number(values.seed) + round}`, async () => {
      const service = await startService({ sampleData: false })
      await seedRecords(service)
      const tally = await fuzz(
        service,
        Math.min(batch, Number(values.requests) - round * batch),
        Number(values.seed) + round,
        console.error,
      )
      for (const key of Object.keys(total) as (keyof FuzzTally)[]) total[key] += tally[key]
      console.log(JSON.stringify(total))
      assert.deepEqual([tally.faults, tally.hangs, tally.traces], [0, 0, 0])
      assert.ok(tally.saved > 0 && tally.refused > tally.saved, JSON.stringify(tally))
    })
  }
}

/** Creates a few records of each resource to be changed, restored and pointed to. */
export async function seedRecords(service: Service): Promise<void> {
  const make = async (resource: string, body: Json) => {
    const reply = await service.call('POST', `/rest/api/v1/${resource}`, body)
    if (reply.status !== 201) throw new Error(reply.text)
    return reply.body.data.id as number
  }
  const company = await make('company', { name: 'Seed' })
  const contacts = [
    await make('contact', { last_name: 'Seed', company }),
    await make('contact', { last_name: 'Seed too' }),
  ]
  const [tag, territory] = [await make('tag', { name: 'seed' }), await make('territory', { name: 'Seed' })]
  Object.assign(service.known, {
    company,
    contact: contacts[0],
    contacts,
    tags: [tag, await make('tag', { name: 'seed too' })],
    territory,
  })
  for (const type of [
    'DROPDOWN',
    'MULTISELECT',
    'SINGLE_NUMBER',
    'ADDRESS',
    'MONETARY',
    'DATE_RANGE',
    'PHONE',
    'CONTACT',
  ])
    await make('field', {
      source: 'deal',
      field_name: `Seed ${type}`,
      type,
      ...(/DROP|MULTI/.test(type) ? { options: ['A', 'B'] } : {}),
    })
  for (let count = 0; count < 5; count++) {
    await make('product', { name: `Seed ${count}`, unit_price: [{ currency: 'USD', unit_price: count }] })
    await make(
      'deal',
      dealBody(service.known, { title: `Seed ${count}`, deal_value: { currency: 'USD', value: count } }),
    )
  }
}
