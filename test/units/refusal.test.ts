/** The meaning of database errors, also of a database that has its tables in shards on several nodes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { databaseRefusal } from '../../src/db/refusal.ts'
import { takenInIndex } from '../../src/records/unique.ts'
import { resources } from '../../src/resources/resources.ts'

const failure = (code: string, message: string, constraint_name?: string) =>
  Object.assign(new Error(message), { code, constraint_name })

test('a constraint is known by its name, with or without the number of a shard, also from the message', () => {
  const all = resources.map(resource => ({ resource }))
  const taken = 'duplicate key value violates unique constraint'
  const emails: [message: string, name?: string][] = [
    [`${taken} "user_email"`, 'user_email'],
    [taken, 'user_email_102008'],
    [`${taken} "user_email_102008"`],
    [`${taken} "user_email"`],
  ]
  for (const [message, name] of emails) {
    const { slug, problems } = takenInIndex(failure('23505', message, name), all)!
    assert.equal(slug, 'duplicate')
    assert.deepEqual([problems[0]!.field, problems[0]!.code], ['email', 'value_taken'])
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
