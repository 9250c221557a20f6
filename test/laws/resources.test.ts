/** The declaration of every resource agrees with the schema and with the other resources. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../src/resources/resources.ts'
import { startService } from '../support/service.ts'

const { db } = await startService({ sampleData: false })
const fields = resources.flatMap(resource => resource.fields)

test('ids of resources and of fields are there once; custom fields count from 1001 (D45)', () => {
  const twice = (ids: readonly number[]) => ids.filter((id, index) => ids.indexOf(id) !== index)
  assert.deepEqual(twice(resources.map(({ source }) => source.id)), [])
  assert.deepEqual(twice(fields.map(({ id }) => id)), [])
  assert.deepEqual(
    fields.filter(({ id }) => id < 1 || id > 1000).map(({ internal_name }) => internal_name),
    [],
  )
})

test('a resource is shown under texts of its own', () => {
  for (const { name, shownAs, fields } of resources) {
    assert.ok(shownAs.length > 0, name)
    for (const shown of shownAs) {
      const field = fields.find(({ internal_name }) => internal_name === shown)
      assert.equal(field?.type, 'SINGLE_STRING', `${name}: ${shown}`)
    }
  }
})

test('everybody sees all currencies: amounts are converted without a condition of visibility', () => {
  assert.equal(resources.find(({ name }) => name === 'currency')!.ownership, undefined)
})

test('fields name resources and fields that there are', () => {
  const known = new Set(resources.map(({ name }) => name))
  for (const { resource, internal_name, related, lines_of, within, in_base } of fields) {
    const own = resources.find(({ name }) => name === resource)!.fields.map(field => field.internal_name)
    const ofResources = [related, lines_of].filter(name => name !== null && !known.has(name))
    const ofFields = [within, in_base].filter(name => name !== null && !own.includes(name))
    assert.deepEqual([...ofResources, ...ofFields], [], `${resource}.${internal_name}`)
  }
})

test('a custom field points to one resource', () => {
  const types = resources.flatMap(({ customType }) => customType ?? [])
  assert.equal(new Set(types).size, types.length)
})

test('every unique index on names and the like is declared with its field', async () => {
  const rows = await db.query(
    `SELECT c.relname AS resource, i.indexrelid::regclass::text AS index FROM pg_index i
    JOIN pg_class c ON c.oid = i.indrelid WHERE c.relnamespace = 'public'::regnamespace
      AND i.indisunique AND i.indpred IS NOT NULL AND c.relname = ANY($1::text[]) ORDER BY 1, 2`,
    [`{${resources.map(({ name }) => name).join(',')}}`],
  )
  const declared = resources.flatMap(({ name, unique = {}, fields }) =>
    Object.entries(unique).map(([index, field]) => {
      assert.ok(
        fields.some(({ internal_name }) => internal_name === field),
        `${name}: ${field}`,
      )
      return `${name} ${index}`
    }),
  )
  assert.deepEqual(
    declared.toSorted(),
    rows.map(({ resource, index }) => `${resource} ${index}`),
  )
})
