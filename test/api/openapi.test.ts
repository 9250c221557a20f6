/** GET /openapi.json (D90): the document of the service, of an account, of a role, of a token's scopes. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { breakingChanges, merged } from '../../scripts/breaking-changes.ts'
import { type AuthenticatedCaller, loadCatalog } from '../../src/accounts/callers.ts'
import type { Catalog } from '../../src/fields/catalog.ts'
import type { Field } from '../../src/fields/field.ts'
import { openApi } from '../../src/http/openapi/document.ts'
import { openApiHandler } from '../../src/http/routes/service-routes.ts'
import { routes } from '../../src/http/routes.ts'
import { resources } from '../../src/resources/resources.ts'
import { catalogAs } from '../../src/rights/as-role.ts'
import { Rights } from '../../src/rights/rights.ts'
import { judgeOf, type OpenApi } from '../support/judge.ts'
import { startService, v1 } from '../support/service.ts'

const { call, get, known, db, made } = await startService()
const table = routes({} as never)

async function documentOf(secret: string | null): Promise<OpenApi> {
  const { status, text } = await call('GET', '/openapi.json', undefined, {
    authorization: secret === null ? '' : `Bearer ${secret}`,
  })
  assert.equal(status, 200, text)
  return JSON.parse(text)
}
const base = await documentOf(null)
const own: OpenApi = JSON.parse((await get('/openapi.json')).text)
const checkedIn: OpenApi = JSON.parse(readFileSync('docs/api/openapi.json', 'utf8'))

async function validated(document: OpenApi): Promise<void> {
  const { valid, errors } = await new Validator().validate(document)
  assert.ok(valid, JSON.stringify(errors))
}

test('the documents of the service and of an account are OpenAPI 3.1', async () => {
  for (const document of [base, own]) await validated(document)
})

test('no change breaks clients of the document that is checked in (D91)', () => {
  assert.deepEqual(breakingChanges(checkedIn, base), [], 'npm run openapi says how to go on')
})

test('the document that is checked in is the one that is served', () => {
  assert.deepEqual(base, checkedIn, 'run `npm run openapi`, and look at what it changes')
})

test('every route is in it, described, under a name of its own', () => {
  const described = Object.entries<OpenApi>(base.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(method => `${method.toUpperCase()} ${path}`),
  )
  const there = table.map(({ method, url }) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`)
  assert.deepEqual(described.toSorted(), there.toSorted())
  const operations = Object.values<OpenApi>(base.paths).flatMap(Object.values<OpenApi>)
  assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length)
  for (const { summary, responses } of operations) {
    assert.match(summary, /^[A-Z].*[a-z)]\.$|, for people\.$/)
    assert.ok(Object.keys(responses).length > 3)
  }
})

test('the base document holds the fields of the service, and nothing of an account', () => {
  for (const { name, fields } of resources) {
    const shown = fields.filter(field => !field.is_hidden).map(field => field.internal_name)
    assert.deepEqual(Object.keys(base.components.schemas[name].properties), [...shown, '_expanded'])
  }
  const { source, pipeline } = base.components.schemas.deal_input.properties
  for (const dropdown of [source, pipeline]) assert.ok(!JSON.stringify(dropdown).includes('enum'))
})

test('it says whose document it is (D90)', async () => {
  assert.equal('x-account' in base.info, false)
  const { id, name } = (await get(`${v1}/me`)).body.data.account
  assert.deepEqual(own.info['x-account'], { id, name })
})

test('an account has its custom fields, options and limits in it, and its changes at once', async () => {
  const { deal, deal_input: input } = own.components.schemas
  assert.deepEqual(merged({ $ref: '#/components/schemas/deal_new' }, own).required, [
    'title',
    'pipeline',
    'pipeline_stage',
    'primary_contact',
    'sales_owner',
  ])
  assert.ok('cf_custom_text_field' in deal.properties)
  const ids = Object.values(known.options.source!)
  assert.deepEqual(deal.properties.source.anyOf[0].enum.toSorted(), ids.toSorted())
  assert.equal(input.properties.cf_custom_text_field.maxLength, 255)
  const field = await made('field', {
    ...{ source: 'deal', field_name: 'Floor', type: 'SINGLE_NUMBER' },
    ...{ config: { min: 0, max: 12 }, is_required: true },
  })
  const changed = JSON.parse((await get('/openapi.json')).text)
  const { deal_input: sent, deal_new: created } = changed.components.schemas
  const { cf_floor: floor } = sent.properties
  assert.deepEqual([floor.title, floor.type, floor.minimum, floor.maximum], ['Floor', 'number', 0, 12])
  assert.ok(merged(created, changed).required.includes('cf_floor'))
  await call('DELETE', `${v1}/field/${field.id}`)
  const { text } = await get('/openapi.json')
  assert.ok(!text.includes('cf_floor'))
})

test('a number that may have no decimals any more is still read with those that it has', async () => {
  const field = await made('field', { source: 'deal', field_name: 'Height', type: 'SINGLE_NUMBER' })
  const { fields } = (await get(`${v1}/field/list?source=product`)).body.data
  const stock = fields
    .flat()
    .find((one: { internal_name: string }) => one.internal_name === 'quantity_in_stock')
  for (const { id } of [field, stock]) {
    const changed = await call('PATCH', `${v1}/field/${id}`, { config: { max_decimals: 0 } })
    assert.equal(changed.status, 200, changed.text)
  }
  const { schemas } = JSON.parse((await get('/openapi.json')).text).components
  for (const [resource, name] of [
    ['deal', 'cf_height'],
    ['product', 'quantity_in_stock'],
  ]) {
    assert.match(JSON.stringify(schemas[resource!].properties[name!]), /"number"/)
    assert.deepEqual(schemas[`${resource}_input`].properties[name!].type, ['integer', 'null'])
  }
  assert.match(JSON.stringify(schemas.pipeline_stage.properties.position), /"integer"/)
})

test('a role hides fields from it and locks others; a token narrows its routes (D64, D65)', async () => {
  const role = await made('role', {
    ...{ name: 'Caller', scopes: ['deal:read', 'deal:write', 'contact:read'] },
    ...{ hidden_fields: ['deal.deal_value'], locked_fields: ['deal.territory'] },
  })
  const user = await made('user', { name: 'Caller', email: 'caller@example.com', role: role.id })
  const token = await made('token', { name: 'Caller', user: user.id, scopes: ['admin'] })
  const narrow = await made('token', { name: 'Reader', user: user.id, scopes: ['deal:read'] })
  const document = await documentOf(token.token)
  await validated(document)
  const { deal, deal_input: input } = document.components.schemas
  assert.ok(!JSON.stringify(document.components.schemas.deal).includes('deal_value_in_base_currency'))
  for (const name of ['deal_value', 'weighted_value', 'product_amount']) {
    assert.ok(!(name in deal.properties) && !(name in input.properties), name)
  }
  assert.deepEqual(
    [deal.properties.territory.readOnly, input.properties.territory],
    [true, { readOnly: true }],
  )
  const paths = Object.keys(document.paths)
  assert.ok(
    paths.includes(`${v1}/deal`) && paths.includes(`${v1}/contact/{id}`) && paths.includes(`${v1}/me`),
  )
  assert.ok(!paths.includes(`${v1}/company/{id}`) && !('post' in (document.paths[`${v1}/contact`] ?? {})))
  // This caller's answers have no member that their document lacks.
  const as = { authorization: `Bearer ${token.token}` }
  const page = await call('GET', `${v1}/deal/view/list?pageSize=100`, undefined, as)
  assert.ok(page.body.data.length > 50)
  const schema =
    '#/paths/~1rest~1api~1v1~1deal~1view~1list/get/responses/200/content/application~1json/schema'
  assert.equal(judgeOf(document).complaint(schema, JSON.parse(page.text)), null)
  const narrowed = await documentOf(narrow.token)
  await validated(narrowed)
  assert.ok(!(`${v1}/contact/{id}` in narrowed.paths) && !(`${v1}/deal` in narrowed.paths))
  assert.ok(!('contact' in narrowed.components.schemas))
})

test('the document of a role names nowhere a field that the role hides (D90)', async () => {
  const catalog = await loadCatalog(db, resources, 1)
  const role = { ...catalog.roles.get(3)!, hidden_fields: [] as string[] }
  const seenBy = (hidden: string[]) =>
    catalogAs(catalog, new Rights(new Set(['admin']), { ...role, hidden_fields: hidden }))
  const namesOf = (fields: readonly Field[], isHidden: boolean) =>
    fields.filter(field => field.is_hidden === isHidden).map(field => field.internal_name)
  // Members of objects that are no records have such names; a deal stores copies of members of its products.
  const others = ['time_zone', 'expires_at', 'last_used_at', 'is_default']
  const named = resources.flatMap(({ name, snapshot = [] }) => [name, ...snapshot, ...others])
  const told: string[] = []
  // The fields of a deal one by one, as they appear most; those of others all at once.
  const roles = resources.flatMap(({ name, fields }) => {
    const names = namesOf(fields, false).map(one => `${name}.${one}`)
    return name === 'deal' ? names.map(one => [one]) : [names]
  })
  for (const hides of roles) {
    const seen = seenBy(hides)
    const all = [...seen.resources.values()].flatMap(one => one.fields)
    const known = new Set([...namesOf(all, false), ...named])
    const text = await openApi(seen, table)
    for (const one of namesOf(all, true).filter(hidden => !known.has(hidden))) {
      // A single word may be one of English and of JSON Schema, too.
      const form = one.includes('_') ? `\\b${one}(_in_base_currency)?\\b` : `:${one}\\b|\\b${one}:\\w`
      const at = text.includes(one) ? text.search(new RegExp(form)) : -1
      if (at >= 0) told.push(`${hides}, ${one}: ${text.slice(at - 60, at + 20)}`)
    }
  }
  assert.deepEqual(told, [])
})

test('generators of clients understand what is required: it is described, and not beside a $ref (D90)', () => {
  const wrong: string[] = []
  const look = (node: OpenApi, at: string, known: OpenApi = {}) => {
    if (typeof node !== 'object' || node === null) return
    const { $ref, required, properties, type, additionalProperties, default: fallback } = node
    const isSchema = typeof type === 'string' || Array.isArray(type) || typeof $ref === 'string'
    if (
      typeof $ref === 'string' &&
      Object.keys(node).some(key => !['$ref', 'not', 'description'].includes(key))
    )
      wrong.push(`${at} says something beside a $ref`)
    if (Array.isArray(required) && !at.endsWith('/not'))
      for (const name of required)
        if (!(name in { ...known, ...properties })) wrong.push(`${at} does not describe ${name}`)
    if (isSchema && fallback !== undefined)
      wrong.push(`${at} has a default, which clients would have to send`)
    if ([type].flat().includes('object') && !properties && additionalProperties === undefined)
      wrong.push(`${at} is an object without members`)
    for (const [name, inner] of Object.entries(node))
      look(inner, `${at}/${name}`, /^(anyOf|\d+)$/.test(name) ? (properties ?? known) : {})
  }
  for (const document of [base, own]) look(document, '')
  assert.deepEqual(wrong, [])
})

test('who sends a wrong token, or a parameter, is refused', async () => {
  for (const headers of [{ authorization: 'Bearer nonsense' }, { authorization: 'Basic x' }]) {
    const { status, body } = await call('GET', '/openapi.json', undefined, headers)
    assert.deepEqual([status, body.code], [401, 3001])
  }
  const key = await call('GET', '/openapi.json', undefined, { authorization: '', 'x-api-key': 'nonsense' })
  assert.equal(key.status, 401)
  assert.equal((await get('/openapi.json?account=1')).body.code, 1003)
})

test('it is made once for a catalog and the same scopes, and anew for another catalog', async () => {
  let count = 0
  const answer = openApiHandler(() => {
    count++
    return table
  })
  const ask = (catalog: Catalog, scopes: string[]) => {
    const caller = { catalog, rights: new Rights(new Set(scopes), role) } as unknown as AuthenticatedCaller
    return answer({
      caller,
      query: new Map(),
      url: '',
      body: undefined,
      client: {} as never,
      wantsPage: false,
      hungUp: () => new AbortController().signal,
    })
  }
  const catalog = await loadCatalog(db, resources, 1)
  const role = catalog.roles.get(1)!
  const [first, again] = await Promise.all([ask(catalog, ['deal:read']), ask(catalog, ['deal:read'])])
  assert.deepEqual([again.body, count], [first.body, 1])
  await ask(catalog, ['deal:read', 'deal:write'])
  assert.equal(count, 2)
  await ask({ ...catalog }, ['deal:read'])
  assert.equal(count, 3)
})
