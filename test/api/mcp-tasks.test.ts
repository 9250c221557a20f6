/**
 * Forty tasks as a sales person gives them, each solved by a script that knows the definitions of the tools
 * and their answers alone (D146): the changes of records that it makes, and the number of calls and tokens.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../src/json.ts'
import { connectAgent, tokensOf } from '../support/agent.ts'
import { type Answers, tasks } from '../support/sales-tasks.ts'
import { startService, v1 } from '../support/service.ts'

const { call, db, get, known, made, url } = await startService()
const { client, use } = await connectAgent({
  url,
  token: (await made('token', { name: 'Agent', scopes: ['admin'] })).token,
})
const definitions = tokensOf(JSON.stringify(await client.listTools()) + client.getInstructions())

/** The records that the tasks speak of. */
async function prepare(): Promise<void> {
  const role = (await get(`${v1}/role/view/list?filter=name:eq(Member)`)).body.data[0].id
  for (const name of ['Priya Nair', 'Sam Ode'])
    await made('user', { name, email: `${name.split(' ')[0]!.toLowerCase()}@example.com`, role })
  const email = (value: string) => [{ email_type: 'Work', email_value: value }]
  for (const [company, first_name, last_name] of [
    ['Brightline Energy', 'Ana', 'Silva'],
    ['Halden Foods', 'Ben', 'Adler'],
    ['Orbit Labs', 'Cleo', 'Marsh'],
  ] as const) {
    await made('company', { name: company })
    const address = `${first_name.toLowerCase()}.${last_name.toLowerCase()}@example.com`
    await made('contact', { first_name, last_name, company, emails: email(address), job_title: 'Buyer' })
  }
  for (const [title, stage, currency, value, owner, company, contact, close] of [
    [
      'Brightline rooftop',
      'Proposal',
      'EUR',
      42_000,
      'Owner',
      'Brightline Energy',
      'ana.silva',
      '2027-03-15',
    ],
    ['Brightline service plan', 'New', 'EUR', 6000, 'Owner', 'Brightline Energy', 'ana.silva', null],
    [
      'Halden cold chain',
      'Negotiation',
      'USD',
      90_000,
      'Priya Nair',
      'Halden Foods',
      'ben.adler',
      '2027-02-10',
    ],
    ['Halden pilot', 'Qualified', 'USD', 8000, 'Priya Nair', 'Halden Foods', 'ben.adler', null],
    ['Orbit sensors', 'Proposal', 'GBP', 15_000, 'Sam Ode', 'Orbit Labs', 'cleo.marsh', '2027-01-20'],
    ['Orbit upgrade', 'Proposal', 'GBP', 4000, 'Sam Ode', 'Orbit Labs', 'cleo.marsh', null],
    ['Orbit archive', 'Proposal', 'GBP', 900, 'Sam Ode', 'Orbit Labs', 'cleo.marsh', null],
  ] as const)
    await made('deal', {
      ...{ title, pipeline: known.pipeline, pipeline_stage: stage, sales_owner: owner, company },
      ...{ primary_contact: `${contact}@example.com`, deal_value: { currency, value } },
      ...(close ? { expected_close_date: close } : {}),
    })
  await db.query(`UPDATE deal SET deal_stage_updated_at = now() - interval '90 days',
    document = regexp_replace(document, '"deal_stage_updated_at":"[^"]*"', '"deal_stage_updated_at":"2026-01-05T09:00:00.000Z"')
    WHERE account_id = 1 AND title IN ('Orbit upgrade', 'Orbit archive')`)
  await made('activity', {
    kind: 'Task',
    subject: 'Send the offer',
    deal: await idOf('Brightline rooftop'),
    due_at: '2027-01-10T09:00:00Z',
  })
}

async function idOf(title: string): Promise<number> {
  return (await get(`${v1}/deal/view/list?filter=title:eq(${encodeURIComponent(title)})`)).body.data[0].id
}

type Event = {
  readonly type: string
  readonly changes: readonly { field: string; to: Json; to_name?: Json }[]
}

const lastSeq = async () => (await get(`${v1}/event?after=${Number.MAX_SAFE_INTEGER}`)).body.meta.last

/** The changes since an event: the type, and the values of the fields that the task names. */
async function changesSince(seq: number, fields: readonly string[]): Promise<string[]> {
  const { data } = (await get(`${v1}/event?after=${seq}&limit=1000`)).body as { data: Event[] }
  return data.map(({ type, changes }) => {
    const named = changes.filter(({ field }) => fields.includes(field))
    const told = named.map(({ field, to, to_name }) => `${field}=${textOf(to_name ?? to)}`)
    return [type, ...told.sort()].join(' ')
  })
}

function textOf(value: Json): string {
  const { currency_code, value: amount } = (value ?? {}) as { currency_code?: string; value?: number }
  if (currency_code) return `${currency_code} ${amount}`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

test('forty tasks of a sales person', async () => {
  await prepare()
  assert.equal(tasks.length, 40)
  const counts: { ask: string; calls: number; tokens: number }[] = []
  for (const { ask, steps, changes = [], answer } of tasks) {
    const begun = await lastSeq()
    const answers: Answers = []
    let tokens = definitions
    for (const step of steps) {
      const [tool, args] = typeof step === 'function' ? step(answers) : step
      const reply = await use(tool, args)
      assert.equal(reply.isError, false, `${ask}: ${tool} ${JSON.stringify(args)} → ${reply.text}`)
      answers.push(reply.body)
      tokens += reply.tokens + tokensOf(JSON.stringify({ tool, args }))
    }
    const fields = changes.flatMap(change =>
      change
        .split(' ')
        .slice(1)
        .map(part => part.split('=', 1)[0]!),
    )
    const told = (await changesSince(begun, fields)).toSorted()
    assert.deepEqual(told, changes.toSorted(), `${ask}: ${JSON.stringify(answers.at(-1))}`)
    if (answer) assert.match(JSON.stringify(answers), answer, ask)
    counts.push({ ask, calls: steps.length, tokens })
  }
  for (const { ask, calls, tokens } of counts) console.log(`${calls} calls, ${tokens} tokens: ${ask}`)
  const middle = (of: 'calls' | 'tokens') => counts.map(one => one[of]).toSorted((a, b) => a - b)[20]!
  console.log(`In the middle: ${middle('calls')} calls, ${middle('tokens')} tokens.`)
  assert.ok(middle('calls') <= 4)
  assert.ok(middle('tokens') <= 8000)
  await call('GET', '/healthz')
})
