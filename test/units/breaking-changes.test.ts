/** Breaking changes are described in sentences (D91): each is made to the checked-in document. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { breakingChanges } from '../../scripts/breaking-changes.ts'
import type { OpenApi } from '../support/judge.ts'

const text = readFileSync('docs/api/openapi.json', 'utf8')
const product = '/rest/api/v1/product'
/** The document with the paths of products alone: comparing all takes most of a second. */
function read(): OpenApi {
  const document = JSON.parse(text)
  const paths = Object.entries(document.paths).filter(([path]) => path.startsWith(product))
  return { ...document, paths: Object.fromEntries(paths) }
}

/** The sentences about a change of the document. */
function told(change: (document: OpenApi) => void): string[] {
  const document = read()
  change(document)
  return breakingChanges(read(), document)
}

type Changed = { readonly what: string; readonly says: RegExp; change(document: OpenApi): void }

const schemas = (document: OpenApi) => document.components.schemas
/** The members of a schema beyond the one that it extends. */
const partOf = (document: OpenApi, name: string) => schemas(document)[name].allOf[1]
/** The described fields of a product's output. */
const readAs = (document: OpenApi) => [schemas(document).product, partOf(document, 'product_read')]

const breaking: readonly Changed[] = [
  {
    what: 'a path went away',
    says: /^The path \/rest\/api\/v1\/product\/\{id\}\/restore went away\.$/,
    change: document => delete document.paths[`${product}/{id}/restore`],
  },
  {
    what: 'a method went away',
    says: /^DELETE \/rest\/api\/v1\/product\/\{id\} went away\.$/,
    change: document => delete document.paths[`${product}/{id}`].delete,
  },
  {
    what: 'a status went away',
    says: /^POST \/rest\/api\/v1\/product no longer answers 201\.$/,
    change: document => delete document.paths[product].post.responses['201'],
  },
  {
    what: 'an operation has another name',
    says: /^POST \/rest\/api\/v1\/product is no longer called product_create, but make\.$/,
    change: document => {
      document.paths[product].post.operationId = 'make'
    },
  },
  {
    what: 'a header went away',
    says: /^POST \/rest\/api\/v1\/product, 201: the header location went away\.$/,
    change: document => delete document.paths[product].post.responses['201'].headers.location,
  },
  {
    what: 'a field that is read went away',
    says: /^GET \/rest\/api\/v1\/product\/\{id\}, 200\.data: the field quantity_in_stock went away\.$/,
    change: document => {
      for (const one of readAs(document)) delete one.properties.quantity_in_stock
    },
  },
  {
    what: 'a field that is sent went away',
    says: /^POST \/rest\/api\/v1\/product: the body: the field description went away\.$/,
    change: document => delete schemas(document).product_input.properties.description,
  },
  {
    what: 'a field is newly required',
    says: /^POST \/rest\/api\/v1\/product: the body: the field category is now required\.$/,
    change: document => partOf(document, 'product_new').required.push('category'),
  },
  {
    what: 'a field that is read may be absent',
    says: /^GET \/rest\/api\/v1\/product\/\{id\}, 200\.data: the field name may be absent\.$/,
    change: document => {
      partOf(document, 'product_read').required.splice(1, 1)
    },
  },
  {
    what: 'a text got shorter',
    says: /^PATCH .*: the body\.product_code got narrower: maxLength was 20 and is 10\.$/,
    change: document => {
      schemas(document).product_input.properties.product_code.maxLength = 10
    },
  },
  {
    what: 'a number got narrower',
    says: /^PATCH .*\.quantity_in_stock got narrower: minimum was 0 and is 1\.$/,
    change: document => {
      schemas(document).product_input.properties.quantity_in_stock.minimum = 1
    },
  },
  {
    what: 'a pattern is another',
    says: /^PATCH .*\.valid_till got narrower: it has another pattern\.$/,
    change: document => {
      schemas(document).product_input.properties.valid_till.pattern = '^x$'
    },
  },
  {
    what: 'a value that is sent went away',
    says: /^PATCH .*: the body\.type: the value 2 went away\.$/,
    change: document => schemas(document).product_input.properties.type.anyOf[0].enum.pop(),
  },
  {
    what: 'a value of a parameter went away',
    says: /^GET .*\/view\/list: the parameter count: the value "none" went away\.$/,
    change: document => document.components.parameters.count.schema.enum.pop(),
  },
  {
    what: 'a parameter went away',
    says: /^GET \/rest\/api\/v1\/product\/view\/list: the parameter [\w-]+ went away\.$/,
    change: document => document.paths[`${product}/view/list`].get.parameters.pop(),
  },
  {
    what: 'a parameter is newly required',
    says: /^GET .*: the parameter filter is now required\.$/,
    change: document => {
      document.components.parameters.filter.required = true
    },
  },
  {
    what: 'the type of a field is another',
    says: /^GET \/rest\/api\/v1\/product\/\{id\}, 200\.data\.quantity_in_stock was number or null and is string\.$/,
    change: document => {
      for (const one of readAs(document)) one.properties.quantity_in_stock.type = 'string'
    },
  },
  {
    what: 'a field that was always there may be null',
    says: /^GET \/rest\/api\/v1\/product\/\{id\}, 200\.data\.name was string and is string or null\.$/,
    change: document => {
      for (const one of readAs(document)) one.properties.name.type = ['string', 'null']
    },
  },
  {
    what: 'null is no longer taken',
    says: /^PATCH .*: the body\.description was string or null and is string\.$/,
    change: document => {
      schemas(document).product_input.properties.description.type = 'string'
    },
  },
  {
    what: 'a body is newly needed',
    says: /^POST \/rest\/api\/v1\/product\/view\/list now needs a body\.$/,
    change: document => {
      document.paths[`${product}/view/list`].post.requestBody.required = true
    },
  },
  {
    what: 'an object takes no other members any more',
    says: /: the body\.metadata takes no other fields any more\.$/,
    change: document => {
      Object.assign(schemas(document).product_input.properties.metadata, {
        properties: {},
        additionalProperties: false,
      })
    },
  },
]

for (const { what, says, change } of breaking)
  test(`breaks: ${what}`, () => {
    const sentences = told(change)
    assert.ok(
      sentences.some(sentence => says.test(sentence)),
      sentences.slice(0, 5).join('\n'),
    )
  })

const additions: readonly Omit<Changed, 'says'>[] = [
  { what: 'nothing', change: () => {} },
  {
    what: 'a path, a method and a status',
    change: document => {
      document.paths['/new'] = document.paths[product]
      document.paths[product].get = document.paths[`${product}/{id}`].get
      document.paths[product].post.responses['409'] ??= {}
      document.paths[product].post.responses['418'] = { description: 'New.' }
    },
  },
  {
    what: 'a field that may be sent, and is read',
    change: document => {
      schemas(document).product_input.properties.colour = { type: 'string' }
      schemas(document).product.properties.colour = { type: 'string' }
      partOf(document, 'product_read').required.push('colour')
    },
  },
  {
    what: 'a parameter that may be sent',
    change: document =>
      document.paths[`${product}/view/list`].get.parameters.push({ name: 'new', in: 'query', schema: {} }),
  },
  {
    what: 'input that got wider',
    change: document => {
      const { properties } = schemas(document).product_input
      properties.product_code.maxLength = 40
      properties.quantity_in_stock.type = ['number', 'string', 'null']
      properties.type.anyOf[0].enum.push(3)
      partOf(document, 'product_new').required = []
    },
  },
  {
    what: 'a field that is never null any more, and one in other words',
    change: document => {
      for (const { properties } of readAs(document)) {
        properties.quantity_in_stock.type = 'number'
        properties.name.title = 'The name'
      }
    },
  },
]

for (const { what, change } of additions)
  test(`doesn't break: ${what}`, () => assert.deepEqual(told(change), []))

test("doesn't break: nothing in the whole document", () =>
  assert.deepEqual(breakingChanges(JSON.parse(text), JSON.parse(text)), []))
