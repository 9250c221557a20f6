/**
 * Hostile calls of tools (D145 to D147): no fault, nothing of other accounts, nothing that no caller should
 * see, and no write without its first step.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAccount } from '../../src/accounts/create.ts'
import { tokensOf } from '../support/agent.ts'
import { hostileCall, messageOf, type Pool, plainCall, toolAnswerOf } from '../support/agent-questions.ts'
import { byQueries } from '../support/by-queries.ts'
import { random } from '../support/generated.ts'
import { seed, shareOf } from '../support/questions.ts'
import { startService, v1 } from '../support/service.ts'

const service = await startService()
const { call, db, get, known, made } = service

const secret = 'Zyxwvut'
/** Another account, whose names nobody here may learn. */
const other = await createAccount(byQueries(db), {
  ...{ name: secret, ownerName: `${secret} Owner`, ownerEmail: `${secret}@example.com` },
})
await db.query(
  `INSERT INTO company (account_id, id, name, document, created_at, updated_at)
  VALUES ($1::bigint, 900001, $2::text, '{}', now(), now())`,
  [String(other.account), `${secret} Company`],
)

const { token } = await made('token', { name: 'Agent', scopes: ['admin', 'mcp:write'] })
const { token: careful } = await made('token', { name: 'Careful', scopes: ['admin'] })
const headers = (of: string) => ({
  ...{ authorization: `Bearer ${of}`, accept: 'application/json, text/event-stream' },
})
const deals = (await get(`${v1}/deal/view/list?pageSize=100`)).body.data
const pool: Pool = {
  next: random(seed),
  ids: [...deals.map(({ id }: { id: number }) => id), ...known.contacts, 900_001, 99_999_999],
  texts: [...deals.map(({ title }: { title: string }) => title), secret, 'Proposal', 'me', '5', 'Owner'],
  fields: [...Object.keys(deals[0]), 'stage', 'owner', 'emails', 'name', 'subject', 'notes', 'nothing'],
}
const lastSeq = async () => (await get(`${v1}/event?after=${Number.MAX_SAFE_INTEGER}`)).body.meta.last
const faults = /internal|node:internal|at file:|\.ts:\d+|PostgreSQL|syntax error at|SELECT |undefined/

/** Calls that were answered, and those that were refused. */
const outcomes = { answered: 0, refused: 0 }

/** Sends that number of calls, some at the same time; returns what is wrong with their answers. */
async function wrongAnswers(
  make: (pool: Pool) => ReturnType<typeof plainCall>,
  count: number,
): Promise<string[]> {
  const wrong: string[] = []
  let left = count
  const ask = async () => {
    while (left-- > 0) {
      const asked = make(pool)
      const { status, text } = await call('POST', '/mcp', messageOf(asked), headers(careful))
      const answer = status === 200 ? toolAnswerOf(text) : null
      outcomes[answer?.isError === false ? 'answered' : 'refused']++
      const problem =
        status >= 500
          ? `status ${status}`
          : text.includes(secret) && !JSON.stringify(asked.args).includes(secret)
            ? 'a leak'
            : answer && faults.test(answer.text) && !faults.test(JSON.stringify(asked.args))
              ? 'a fault'
              : answer && tokensOf(answer.text) > 8000
                ? 'too long'
                : null
      if (problem) wrong.push(`${problem}: ${JSON.stringify(asked).slice(0, 300)} → ${text.slice(0, 400)}`)
    }
  }
  await Promise.all(Array.from({ length: 4 }, ask))
  return wrong
}

test('no call breaks, leaks or writes', async () => {
  const before = await lastSeq()
  assert.deepEqual((await wrongAnswers(hostileCall, shareOf(1000))).slice(0, 10), [])
  assert.deepEqual((await wrongAnswers(plainCall, shareOf(250))).slice(0, 10), [])
  assert.equal(await lastSeq(), before)
  // Both are tried.
  const { answered, refused } = outcomes
  const few = (answered + refused) / 100
  assert.ok(answered > few && refused > few, `${answered} ${refused}`)
})

test('a code that was not given carries nothing out', async () => {
  const before = await lastSeq()
  for (const tool of ['create', 'update', 'log_activity', 'undo'])
    for (const code of ['', 'aaaaaaaaaa', "' OR '1'='1", '%', '__proto__', '0'.repeat(40)]) {
      const { status, text } = await call('POST', '/mcp', messageOf({ tool, args: { code } }), headers(token))
      assert.equal(status, 200)
      assert.equal(toolAnswerOf(text)?.isError, true, text)
    }
  assert.equal(await lastSeq(), before)
})
