/**
 * Unseen records and fields leave no trace in any answer (D63, D64): a caller who sees their own records
 * only, and not one field, sends thousands of requests. Then everything that they don't see is deleted from
 * the database, and they repeat the requests. Every answer must be the same, byte for byte.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newSecret } from '../../src/accounts/token.ts'
import type { Json } from '../../src/json.ts'
import { reports } from '../../src/resources/reports.ts'
import { messageOf, plainCall, type ToolCall } from '../support/agent-questions.ts'
import { random } from '../support/generated.ts'
import { seed, shareOf } from '../support/questions.ts'
import { startService, v1 } from '../support/service.ts'
import { createToken } from '../support/tokens.ts'
import { pathsOf } from './naive.ts'

const service = await startService()
const { call, get, db, made } = service

/** Number of different requests about each resource: each is sent twice. */
const counts = { deal: shareOf(2200), contact: shareOf(600), activity: shareOf(1200) }

const role = await made('role', {
  name: 'Seller',
  scopes: [
    ...['deal', 'contact', 'company', 'user', 'territory', 'tag', 'pipeline', 'pipeline_stage', 'product'],
    ...['currency', 'field', 'role', 'token', 'activity'],
  ]
    .map(name => `${name}:read`)
    .concat('deal:write', 'contact:write'),
  visibility: { deal: 'territory', contact: 'own', company: 'own', activity: 'territory' },
  hidden_fields: [
    ...['deal.deal_value', 'deal.cf_custom_text_field', 'contact.job_title', 'contact.phones'],
    'activity.outcome',
  ],
})
const territory = await made('territory', { name: 'Theirs' })
const seller = await made('user', {
  name: 'Seller',
  email: 'seller@example.com',
  role: role.id,
  territories: [territory.id],
})
const secret = newSecret('token', 1)
await createToken(db, { account: 1, user: seller.id, name: 'Seller', scopes: ['admin'], token: secret })
const as = { authorization: `Bearer ${secret}`, accept: 'application/json, text/event-stream, text/csv' }
const company = await made('company', { name: 'Own company' })
await db.query('UPDATE company SET created_by = $1::bigint WHERE id = $2::bigint', [
  String(seller.id),
  String(company.id),
])
const deals = (await get(`${v1}/deal/view/list?pageSize=500`)).body.data
const contacts = (await get(`${v1}/contact/view/list?pageSize=500`)).body.data
const companies = (await get(`${v1}/company/view/list?pageSize=500`)).body.data
const activities = (await get(`${v1}/activity/view/list?pageSize=500`)).body.data
// A third of the deals is theirs or of their territory; contacts and companies are arbitrary.
for (const [index, deal] of deals.entries()) {
  const body =
    index % 6 === 0 ? { sales_owner: seller.id } : index % 6 === 3 ? { territory: territory.id } : null
  if (!body) continue
  const reply = await call('PATCH', `${v1}/deal/${deal.id}`, body)
  assert.equal(reply.status, 200, reply.text)
}
for (const [index, contact] of contacts.entries()) {
  if (index % 3) continue
  const text = [String(seller.id), String(contact.id)]
  await db.query('UPDATE contact SET created_by = $1::bigint WHERE id = $2::bigint', text)
}

/** A period in which deals were made and changed. */
const [from, to] = [60, 0].map(days => new Date(Date.now() - days * 86_400_000).toISOString())

const next = random(seed)
const pick = <T>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!

const expandable = {
  deal: 'sales_owner,primary_contact,company',
  contact: 'company',
  activity: 'owner,deal,contact',
}

type Question = { readonly method: string; readonly path: string; readonly body?: Json }

/** Requests about a resource; with values of all its records, seen or not. */
async function questions(resource: keyof typeof counts): Promise<Question[]> {
  const paths = await pathsOf(service, resource)
  const records = { deal: deals, contact: contacts, activity: activities }[resource]
  const operandsOf = (of: typeof paths, from: typeof records, prefix = '') =>
    of.map(path => ({
      path: { ...path, path: prefix + path.path },
      values: from.slice(0, 200).flatMap((record: unknown) => [...path.of(record)].map(path.operand)),
    }))
  const contactPaths = await pathsOf(service, 'contact')
  const across =
    resource === 'deal'
      ? ['primary_contact.', 'related_contacts.'].flatMap(prefix =>
          operandsOf(contactPaths, contacts, prefix),
        )
      : [
          ...operandsOf(await pathsOf(service, 'company'), companies, 'company.'),
          ...(resource === 'activity' ? operandsOf(await pathsOf(service, 'deal'), deals, 'deal.') : []),
        ]
  // An unknown name is answered like that of an unseen record (D75).
  const emails = contacts.flatMap((contact: { emails: { email_value: string }[] }) =>
    contact.emails.map(entry => entry.email_value),
  )
  const names75 = {
    path: { path: 'primary_contact', operators: ['eq', 'in', 'neq'] as const },
    values: emails,
  }
  const operands = [...operandsOf(paths, records), ...across, ...(resource === 'deal' ? [names75] : [])]
  const condition = () => {
    const { path, values } = pick(operands)
    const presence = ['isnull', 'notnull', 'exists']
    const operator = pick(path.operators.filter(name => values.length > 0 || presence.includes(name)))
    if (presence.includes(operator)) return `${path.path}:${operator}(true)`
    const value = () => String(pick(values)).replace(/["\\]/g, '')
    const several = operator === 'in' || operator === 'nin' || operator === 'between'
    // A single value is not quoted: quotation marks would be a part of it.
    const text = several ? `"${value()}","${value()}"` : value().replace(/[()]/g, '')
    return `${path.path}:${operator}(${encodeURIComponent(text)})`
  }
  const filter = () => {
    const form = next()
    if (form < 0.6) return `filter=${condition()}`
    if (form < 0.8) return `filter=or(${condition()},${condition()})`
    return `filter=${condition()}&filter=not(${condition()})`
  }
  const names = paths.map(path => path.path)
  const ids = records.map((record: { id: number }) => record.id)
  const list = () => {
    const sort = next() < 0.5 ? `&sort=${pick(names)}:${pick(['asc', 'desc'])}` : ''
    const more = pick(['', '', `&expand=${expandable[resource]}`, `&fields=id,${member()}`, ''])
    const counting = pick(['', '', '&count=exact', '&count=estimate', '&deleted=only'])
    return `${v1}/${resource}/view/list?${filter()}${sort}${more}${counting}&pageSize=${pick([1, 3, 25])}`
  }
  const key = () => pick(['pipeline_stage', 'sales_owner', 'company', 'source', 'status', 'product'])
  const date = () => `${pick(['created_at', 'expected_close_date'])}:${pick(['day', 'month', 'year'])}`
  const measure = () =>
    `${pick(['sum', 'avg', 'min', 'max', 'median'])}:${pick([...names, 'revenue', 'age', 'expected_deal_value'])}`
  const sums = () => {
    const by = pick([key(), `${key()},${date()}`, `${key()},${key()},${date()}`])
    const measures = pick([
      '',
      '',
      `&measures=count,${measure()}`,
      '&measures=sum:expected_deal_value,max:age',
    ])
    return `${v1}/deal/aggregate?group_by=${by}${measures}&${filter()}`
  }
  const plainSums = () => {
    const by = pick([...expandable[resource].split(','), 'created_by', 'created_at:month'])
    return `${v1}/${resource}/aggregate?group_by=${by}&${filter()}`
  }
  const board = () =>
    `${v1}/deal/view/board?${filter()}&sort=${pick(names)}:${pick(['asc', 'desc'])}&pageSize=${pick([1, 5])}`
  const funnel = () => `${v1}/deal/funnel?${filter()}`
  const changes = () =>
    `${v1}/deal/changes?from=${from}&to=${to}&${filter()}${pick(['', '&by=owner', '&pageSize=1'])}`
  /** Each report of deals by its name. */
  const dealReports = {
    aggregate: sums,
    board,
    changes,
    funnel,
  }
  const ofDeals = reports.filter(report => report.resource === 'deal').map(({ name }) => name)
  assert.deepEqual(Object.keys(dealReports).toSorted(), ofDeals.toSorted())
  /** Parts of all stored texts, in deals, contacts and companies, including hidden fields. */
  const searches = () => {
    const words = () => {
      const text = String(pick(pick(operands).values) ?? 'xx')
      const from = Math.floor(next() * Math.max(1, text.length - 3))
      return text.slice(from, from + 2 + Math.floor(next() * 6))
    }
    const q = encodeURIComponent(pick([words(), `${words()} ${words()}`]))
    return `${v1}/search?q=${q}&pageSize=${pick([3, 50])}${pick(['', '&resources=contact', '&resources=deal'])}`
  }
  const exported = () => {
    const more = pick(['', `&sort=${pick(names)}:asc`, `&names=1&fields=${pick(['id', member()])}`])
    return `${v1}/${resource}/export?format=${pick(['csv', 'jsonl'])}&${filter()}${more}`
  }
  const id = () => pick(ids)
  const member = () => pick([...new Set(names.map(name => name.split('.')[0]!))])
  const one = (): Question => {
    const kind = next()
    if (kind < 0.5) return { method: 'GET', path: list() }
    if (kind < 0.52) return { method: 'GET', path: exported() }
    if (kind < 0.66) return { method: 'GET', path: searches() }
    if (kind < 0.74)
      return {
        method: 'GET',
        path: pick(resource === 'deal' ? Object.values(dealReports) : [list, plainSums])(),
      }
    if (kind < 0.84)
      return { method: 'GET', path: `${v1}/${resource}/${id()}${pick(['', '?expand=company'])}` }
    if (kind < 0.88)
      return { method: 'GET', path: `${v1}/field/dropdown?source=${resource}&name=${member()}` }
    if (kind < 0.92) return { method: 'GET', path: `${v1}/field/list?source=${resource}` }
    // Refused in any case, so that nothing is changed: the field is unknown.
    const wrong = { nobody_has_this: 1, [member()]: pick([1, 'x', null]), primary_contact: id() }
    if (kind < 0.96) return { method: 'POST', path: `${v1}/${resource}`, body: wrong as Json }
    return { method: 'PATCH', path: `${v1}/${resource}/${id()}`, body: wrong as Json }
  }
  const different = new Map<string, Question>()
  while (different.size < counts[resource]) {
    const question = one()
    different.set(JSON.stringify(question), question)
  }
  return [...different.values()]
}

/**
 * Calls of the tools of agents (D146), with names and values of all records, seen or not. An undo judges what
 * its caller does not see, too (D83).
 */
function toolQuestions(count: number): Question[] {
  const named = (of: readonly { [field: string]: Json }[], ...fields: string[]) =>
    of.flatMap(record => fields.map(field => record[field]).filter(value => typeof value === 'string'))
  const texts = [
    ...named(deals, 'title', 'recent_note', 'last_activity_type'),
    ...named(contacts, 'first_name', 'last_name', 'job_title'),
    ...named(companies, 'name'),
    ...named(activities, 'subject', 'notes', 'outcome'),
  ] as string[]
  const ids = [deals, contacts, companies, activities].flatMap(of => of.map(({ id }: { id: number }) => id))
  const fields = [...new Set([deals, contacts, activities].flatMap(of => Object.keys(of[0])))]
  const calls = Array.from({ length: count }, () => plainCall({ next, ids, texts, fields }))
  return calls.filter(({ tool }) => tool !== 'undo').map(toolQuestion)
}

function toolQuestion(asked: ToolCall): Question {
  return { method: 'POST', path: '/mcp', body: messageOf(asked) }
}

/** The answers without their variable parts: the id of the request, the time. */
async function answers(from: typeof call, asked: readonly Question[]): Promise<string[]> {
  const all: string[] = []
  let at = 0
  const ask = async () => {
    while (at < asked.length) {
      const index = at++
      const { method, path, body } = asked[index]!
      const { status, text, headers } = await from(method, path, body, as)
      const told = path === '/mcp' ? text.replace(ofAgents, '') : text
      const said = told.replace(/"requestId":"[^"]*"/, '').replace(/"nextCursor":"([^"]*)"/g, cursorOf)
      all[index] = `${status} ${headers.get('etag')} ${said}`
    }
  }
  await Promise.all(Array.from({ length: 16 }, ask))
  return all
}

/** In answers to agents: cursors, which have the time, random codes, and the address of the process. */
const ofAgents = /eyJ[\w-]+|(?<=code[\\":{ ]+)[a-z2-9]{10}|http:\/\/127\.0\.0\.1:\d+/g

/** A cursor contains the start of its list. */
function cursorOf(_all: string, cursor: string): string {
  const { at, ...rest } = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  return `"nextCursor":${JSON.stringify(rest)}`
}

test('what is not seen changes no answer', async () => {
  const asked = [
    ...(await questions('deal')),
    ...(await questions('contact')),
    ...(await questions('activity')),
    ...toolQuestions(shareOf(600)),
  ]
  const before = await answers(call, asked)
  const statuses = Map.groupBy(before, answer => answer.slice(0, 3))
  for (const status of ['200', '400', '404', '422'])
    assert.ok((statuses.get(status)?.length ?? 0) >= shareOf(20), status)
  assert.equal(statuses.get('500'), undefined, statuses.get('500')?.[0])
  const own = [String(seller.id), String(territory.id)]
  const unseen = 'sales_owner <> $1::bigint AND territory IS DISTINCT FROM $2::bigint'
  const [there] = await db.query(
    `SELECT count(*) FILTER (WHERE ${unseen})::text AS unseen, count(*)::text AS all FROM deal`,
    own,
  )
  assert.ok(Number(there!.unseen) > 50 && Number(there!.all) - Number(there!.unseen) > 20)
  const hidden = await db.query(
    `SELECT e.seq::text AS seq FROM event e JOIN deal d ON d.id = e.record_id AND e.resource = 'deal'
     WHERE ${unseen} ORDER BY e.seq LIMIT 20`,
    own,
  )
  assert.equal(hidden.length, 20)
  const undone = [...hidden.map(({ seq }) => Number(seq)), 9_999_999].map(event =>
    toolQuestion({ tool: 'undo', args: { event } }),
  )
  const refused = (await answers(call, undone)).map(answer => answer.replace(/(?<=event )\d+/g, 'N'))
  assert.deepEqual([...new Set(refused)], refused.slice(-1))
  // References to deleted rows are as good as references to unseen ones.
  for (const { name, table } of await db.query(
    `SELECT conname AS name, conrelid::regclass::text AS table FROM pg_constraint
     WHERE contype = 'f' AND confrelid IN ('contact'::regclass, 'company'::regclass, 'deal'::regclass)`,
  ))
    await db.query(`ALTER TABLE ${table} DROP CONSTRAINT "${name}"`)
  const [gone] = await db.query(
    `WITH gone AS (
       DELETE FROM activity a WHERE coalesce(owner, created_by) <> $1::bigint AND NOT EXISTS (
         SELECT 1 FROM deal d WHERE d.id = a.deal AND d.territory = $2::bigint) RETURNING 1)
     SELECT count(*)::text AS count FROM gone`,
    own,
  )
  assert.ok(Number(gone!.count) > 50 && activities.length - Number(gone!.count) > 20)
  await db.query(`UPDATE activity SET outcome = 'another', document = regexp_replace(document,
    '"outcome":("[^"]*"|null)', '"outcome":"another"')`)
  await db.query(`UPDATE deal SET recent_note = 'another', last_activity_type = 'another', next_activity_subject = 'another',
    activities_document = regexp_replace(activities_document, '"next_activity_subject".*',
      '"next_activity_subject":"another","last_activity_type":"another","recent_note":"another"')`)
  await db.query(`DELETE FROM deal WHERE ${unseen}`, own)
  await db.query('DELETE FROM contact WHERE created_by <> $1::bigint', own.slice(0, 1))
  await db.query('DELETE FROM company WHERE created_by <> $1::bigint', own.slice(0, 1))
  await db.query(`UPDATE contact SET job_title = NULL, phones = '[{"phone_number":"+1 555 0199"}]',
    document = regexp_replace(document, '"job_title":("[^"]*"|null)', '"job_title":"another"')`)
  await db.query(`UPDATE deal SET deal_value_value = 1, deal_value_in_base_currency_value = 2,
    weighted_value_value = 3, custom = custom - 'cf_custom_text_field',
    document = regexp_replace(document, '"deal_value":\\{.*?\\},"(?=expected)', '"deal_value":null,"')`)
  const other = await service.another()
  const after = await answers(other.call, asked)
  const different = asked.flatMap((question, index) =>
    before[index] === after[index] ? [] : [{ question, before: before[index], after: after[index] }],
  )
  assert.equal(different.length, 0, JSON.stringify(different.slice(0, 3), null, 1).slice(0, 4000))
})
