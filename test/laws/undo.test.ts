/**
 * Undo (D83) is exact: after any writes, a record whose last event is undone equals the one before the event.
 * Others' later changes of other fields stay, and nothing else is touched.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSameJson, type Json, type JsonObject } from '../../src/json.ts'
import { random } from '../support/generated.ts'
import { shareOf } from '../support/questions.ts'
import { startService, v1 } from '../support/service.ts'

const { call, db, get, known } = await startService()
const done = async (method: string, path: string, body?: Json) => {
  const reply = await call(method, v1 + path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.text}`)
  return reply.body.data
}
const names = ['deal', 'product', 'contact', 'activity'] as const
type Name = (typeof names)[number]
type Values = { [name: string]: Json }
/** An event of a test, and the record before it; null if it was a creation. */
type Done = {
  readonly resource: Name
  readonly id: number
  readonly seq: number
  readonly before: Values | null
}

const other = (await done('POST', '/user', { name: 'Other', email: 'other@example.com' })).id as number
const { rate } = await done('PATCH', '/currency/978', { rate: 1.25 })
assert.ok(rate)

/** Derived fields, and those that every write moves. */
const following = new Set(
  await Promise.all(
    names.map(async name =>
      (await done('GET', `/field/list?source=${name}`)).fields
        .flat()
        .filter((field: JsonObject) => field.is_read_only)
        .map((field: JsonObject) => field.internal_name as string),
    ),
  ).then(all => all.flat()),
)
const always = ['version', 'updated_at', 'updated_by']
/** Fields of deals that writes of activities move. */
const ofActivities = /_activit|^recent_note$|^email_message_count$|^rotting_days$/
const without = (record: Values, isLeftOut: (name: string) => boolean): Values =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !isLeftOut(name)))

class World {
  readonly ids: { [name in Name]: number[] } = { deal: [], product: [], contact: [], activity: [] }
  readonly events: Done[] = []
  readonly next: () => number
  count = 0

  constructor(seed: number) {
    this.next = random(seed)
  }

  one<T>(all: readonly T[]): T {
    return all[Math.floor(this.next() * all.length)]!
  }

  some<T>(all: readonly T[]): T[] {
    return all.filter(() => this.next() < 0.25)
  }

  /** A subset of a body's members, each with one of its values. */
  members(of: { readonly [member: string]: readonly Json[] }): Values {
    return Object.fromEntries(this.some(Object.keys(of)).map(name => [name, this.one(of[name]!)]))
  }

  money(): Json {
    const currency = this.one(['USD', 'EUR', 'JPY'])
    if (this.next() < 0.2) return null
    const lines = this.some(this.ids.product).map(product => ({
      product,
      quantity: this.one([1, 2.5, '0.000001']),
      ...(this.next() < 0.5 ? { unit_price: this.one([7, 12]), discount: 10 } : { unit_price: 3 }),
    }))
    return this.next() < 0.5
      ? { currency, value: this.one([1, 999, 12]) }
      : { currency, products: lines.slice(0, 3) }
  }

  closing(): Values {
    const day = this.one(['2026-05-01', '2026-06-30'])
    return this.one<Values>([
      { pipeline_stage: known.stages.New! },
      { pipeline_stage: this.one(Object.values(known.stages).slice(0, 3)) },
      { pipeline_stage: known.stages.Won!, won_reason: this.one(reasons('won_reason')), deal_closed_on: day },
      {
        pipeline_stage: known.stages.Lost!,
        lost_reason: this.one(reasons('lost_reason')),
        deal_closed_on: day,
      },
    ])
  }

  body(resource: Name): Values {
    const text = () => `Text ${Math.floor(this.next() * 50)} é`
    const moment = ['2026-03-31T10:00:00Z', '2026-04-01T23:30:00+02:00', null]
    if (resource === 'contact')
      return this.members({
        first_name: [text(), null],
        last_name: [text()],
        emails: [[], [{ email_type: 'Work', email_value: `a${++this.count}@example.com` }]],
        phones: [null, [{ phone_type: 'Work', phone_number: '+1 555 0100' }]],
        company: [known.company, null],
        metadata: [{ a: 1 }, { a: { b: [1e-7] } }, null],
      })
    if (resource === 'product')
      return this.members({
        name: [text()],
        product_code: [text(), null, '007'],
        sales_owner: [known.owner, other, null],
        unit_price: [[], [{ currency: 'USD', price: '9.99', tax: 5 }], [{ currency: 'EUR', price: 8 }]],
      })
    if (resource === 'activity')
      return this.members({
        kind: ['Call', 'Task', 'Note', 'E-mail'],
        subject: [text()],
        notes: [text(), null],
        due_at: moment,
        done_at: moment,
        owner: [known.owner, other, null],
        deal: [this.one(this.ids.deal) ?? null, null],
        contact: [this.one(this.ids.contact) ?? null, null],
      })
    return {
      ...this.members({
        title: [text()],
        description: [text(), null],
        sales_owner: [known.owner, other],
        tags: [this.some(known.tags), []],
        related_contacts: [this.some(this.ids.contact), []],
        company: [known.company, null],
        deal_value: [this.money(), this.money()],
        expected_close_date: ['2026-09-01', '2026-10-01'],
        won_reason: [null, ...reasons('won_reason').slice(0, 2)],
        deal_closed_on: [null, '2026-05-01'],
        cf_custom_number_field: [7, 1e-7, null],
        cf_custom_text_field: [text(), null],
        metadata: [{ a: 1 }, { a: [2, 'x'] }, {}],
      }),
      ...(this.next() < 0.3 ? this.closing() : {}),
    }
  }

  newBody(resource: Name): Values {
    const person = this.next() < 0.5 ? known.contact : { last_name: `Nested ${++this.count}` }
    const needed = {
      deal: {
        ...{ title: 'A deal', pipeline: known.pipeline, pipeline_stage: known.stages.New! },
        ...{ primary_contact: person, sales_owner: known.owner },
      },
      product: { name: `Product ${++this.count}` },
      contact: { last_name: 'A contact' },
      activity: { kind: 'Task', subject: 'An activity' },
    }
    return { ...needed[resource], ...this.body(resource) }
  }

  /** One write; noted if it has an event. */
  async write(): Promise<void> {
    const resource = this.one(names)
    const id = this.ids[resource].length > 3 ? this.one(this.ids[resource]) : null
    if (id === null || this.next() < 0.1) {
      const { status, body } = await call('POST', `${v1}/${resource}`, this.newBody(resource))
      if (status !== 201) return
      this.ids[resource].push(body.data.id)
      return this.note(resource, body.data.id, null)
    }
    const before = await look(resource, id)
    if (!before) return
    const path = `${v1}/${resource}/${id}`
    const reply =
      before.deleted_at !== null
        ? await call('POST', `${path}/restore`)
        : this.next() < 0.1
          ? await call('DELETE', path)
          : await call('PATCH', path, this.body(resource))
    if (reply.status === 200 && (await look(resource, id))?.version !== before.version)
      await this.note(resource, id, before)
  }

  async note(resource: Name, id: number, before: Values | null): Promise<void> {
    this.events.push({ resource, id, seq: await newest(resource, id), before })
  }
}

function reasons(field: string): number[] {
  return Object.values(known.options[field]!)
}

/** The newest event of a record. */
async function newest(resource: Name, id: number): Promise<number> {
  const [row] = await db.query(
    'SELECT max(seq)::text AS seq FROM event WHERE account_id = 1 AND resource = $1::text AND record_id = $2::bigint',
    [resource, String(id)],
  )
  return Number(row!.seq)
}

/** A record, deleted or not. */
async function look(resource: Name, id: number): Promise<Values | null> {
  for (const deleted of ['', '&deleted=only']) {
    const { data } = (await get(`${v1}/${resource}/view/list?filter=id:eq(${id})${deleted}`)).body
    if (data.length) return data[0]
  }
  return null
}

const isAlways = (name: string) => always.includes(name) || ofActivities.test(name)

/** Undoes an event, and returns what is wrong with the result; 'refused' if it was refused. */
async function tried(event: Done): Promise<string | null> {
  const { resource, id, seq, before } = event
  const [row] = await db.query(
    'SELECT type, changes::text AS changes FROM event WHERE account_id = 1 AND seq = $1::bigint',
    [String(seq)],
  )
  const changes = JSON.parse(row!.changes!) as { [name: string]: { after: Json } }
  const isLast = (await newest(resource, id)) === seq
  const stood = (await look(resource, id))!
  const isOwn = (name: string) => name in changes && !following.has(name)
  const differs = Object.keys(changes).filter(
    name => isOwn(name) && !isSameJson(changes[name]!.after, stood[name] ?? null),
  )
  const reply = await call('POST', `${v1}/event/${seq}/undo`)
  const now = (await look(resource, id))!
  if (reply.status !== 200) {
    if (!isSameJson(now, stood)) return `refused, and changed: ${JSON.stringify([stood, now])}`
    // It is in use, a referenced record is gone, or a rule of other fields forbids it.
    const isExpected = isLast ? [2001, 5004].includes(reply.body.code) : reply.status < 500
    return isExpected ? 'refused' : reply.text
  }
  if (row!.type!.endsWith('.updated') && differs.length) return `undone in spite of ${differs.join()}`
  if (before === null || row!.type!.endsWith('.restored'))
    return now.deleted_at === null ? 'it is not deleted' : null
  if (isLast) {
    const [was, is] = [without(before, isAlways), without(now, isAlways)]
    return isSameJson(was, is) ? null : JSON.stringify({ was, is, event: row })
  }
  const leftOut = (name: string) => isAlways(name) || following.has(name)
  const own = Object.fromEntries(Object.entries(before).filter(([name]) => isOwn(name)))
  const gone = Object.keys(changes).filter(name => isOwn(name) && !(name in before))
  const wanted = without({ ...stood, ...own }, name => leftOut(name) || gone.includes(name))
  const is = without(now, leftOut)
  return isSameJson(wanted, is) ? null : JSON.stringify({ wanted, is, event: row })
}

test('what is undone is as it was, and what others did since stays', async () => {
  const outcomes = { last: 0, earlier: 0, again: 0 }
  // With fewer steps, no undone change might have later ones.
  const steps = Math.max(40, shareOf(120))
  for (const worldSeed of [1, 2, 3]) {
    const world = new World(worldSeed)
    for (let step = 0; step < steps; step++) {
      await world.write()
      if (world.next() < 0.5 || world.events.length === 0) continue
      const isRecent = world.next() < 0.4
      const event = isRecent ? world.events.at(-1)! : world.one(world.events)
      const stood = (await look(event.resource, event.id))!
      const isLast = (await newest(event.resource, event.id)) === event.seq
      const outcome = await tried(event)
      if (outcome === 'refused') continue
      assert.equal(outcome, null, `seed ${worldSeed}, step ${step}`)
      outcomes[isLast ? 'last' : 'earlier']++
      const own: Done = { ...event, seq: await newest(event.resource, event.id), before: stood }
      if (world.next() < 0.5) {
        world.events.push(own)
        continue
      }
      // Undoing the undo restores the state before it.
      const again = await tried(own)
      if (again === 'refused') continue
      assert.equal(again, null, `again: seed ${worldSeed}, step ${step}`)
      outcomes.again++
    }
  }
  // Most must not be refused, else this shows nothing.
  assert.ok(
    outcomes.last > shareOf(60) && outcomes.earlier > shareOf(15) && outcomes.again > shareOf(40),
    JSON.stringify(outcomes),
  )
})
