/** The meaning of database errors, also of a database that has its tables in shards on several nodes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseRefusal } from '../../src/db/refusal.ts'
import type { ResourceSchema } from '../../src/fields/catalog.ts'
import type { Values } from '../../src/fields/field.ts'
import { constraintRefusal } from '../../src/records/constraint.ts'
import type { Candidate } from '../../src/records/unique.ts'
import { resources } from '../../src/resources/resources.ts'

const failure = (code: string, message: string, constraint_name?: string) =>
  Object.assign(new Error(message), { code, constraint_name })
const catalog = {
  resources: new Map(
    resources.map(resource => [resource.name, { resource, fields: resource.fields, byName: new Map() }]),
  ),
}

test('a constraint is known by its name, with or without the number of a shard, also from the message', () => {
  const refused = (...of: Parameters<typeof failure>) => constraintRefusal(failure(...of), catalog, [])!
  const taken = 'duplicate key value violates unique constraint'
  const emails: [message: string, name?: string][] = [
    [`${taken} "user_email"`, 'user_email'],
    [taken, 'user_email_102008'],
    [`${taken} "user_email_102008"`],
    [`${taken} "user_email"`],
  ]
  for (const [message, name] of emails) {
    const { slug, problems } = refused('23505', message, name)
    assert.equal(slug, 'duplicate')
    assert.deepEqual([problems[0]!.field, problems[0]!.code], ['email', 'value_taken'])
  }
  const gone = 'insert or update on table "deal_102010" violates foreign key constraint'
  for (const name of ['deal_account_id_company_fkey', 'deal_account_id_company_fkey_102010']) {
    for (const error of [refused('23503', gone, name), refused('23503', `${gone} "${name}"`)]) {
      assert.equal(error.slug, 'validation_failed')
      assert.deepEqual(
        [error.problems[0]!.field, error.problems[0]!.code],
        ['company', 'reference_not_found'],
      )
    }
  }
})

test('a constraint that a nested record breaks is a problem of that record', () => {
  const record = (name: string, path: string, after: Values): Candidate => {
    const schema = { resource: resources.find(resource => resource.name === name)! } as ResourceSchema
    return { schema, before: null, path, after }
  }
  const records = [
    record('deal', '', { company: 5 }),
    record('contact', '/related_contacts/0', { company: null }),
    record('contact', '/related_contacts/1', { company: 5 }),
  ]
  for (const [name, expected] of [
    ['contact_account_id_company_fkey', '/related_contacts/1/company'],
    ['deal_account_id_company_fkey', '/company'],
    ['deal_account_id_sales_owner_fkey', '/sales_owner'],
  ] as const) {
    const { problems } = constraintRefusal(failure('23503', '', name), catalog, records)!
    assert.equal(problems[0]!.path, expected)
  }
})

test('a node that is away, is restarted or ends its connections is a database that is not available', () => {
  for (const code of ['08000', '08001', '08003', '08006', '08007', '57P01', '57P02', '57P03', '57P05']) {
    const { slug, headers } = databaseRefusal(
      failure(code, 'connection to the remote node 10.0.0.7:5432 failed'),
    )!
    assert.equal(slug, 'database_unavailable', code)
    assert.equal(headers['retry-after'], '1')
  }
})
