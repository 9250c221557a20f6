/** Drafts of records without a browser: changes, conflicts, fields required by rules, due dates. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createServer, type ViteDevServer } from 'vite'
import { addDays, dayOfChoice, nextMonday } from '../../web/src/activities/next-days.ts'
import { agendaOf } from '../../web/src/pages/agenda.ts'

type Draft = typeof import('../../web/src/records/editing/draft.ts')
type Rules = typeof import('../../web/src/records/editing/deal-rules.ts')
type History = typeof import('../../web/src/records/timeline/history.ts')
type Related = typeof import('../../web/src/fields/references/new-related.ts')
type Field = Parameters<Draft['serializeValues']>[1][number]
type Stage = Parameters<Rules['withStage']>[1][number]

let vite: ViteDevServer
let draft: Draft
let rules: Rules

before(async () => {
  Object.assign(globalThis, { location: { origin: 'http://127.0.0.1' } })
  vite = await createServer({
    configFile: false,
    root: new URL('../../web', import.meta.url).pathname,
    server: { middlewareMode: true, ws: false },
    appType: 'custom',
    logLevel: 'error',
    optimizeDeps: { noDiscovery: true },
  })
  draft = (await vite.ssrLoadModule('/src/records/editing/draft.ts')) as Draft
  rules = (await vite.ssrLoadModule('/src/records/editing/deal-rules.ts')) as Rules
})
after(() => vite.close())

const field = (name: string, type: Field['type'], more: Partial<Field> = {}): Field =>
  ({
    internal_name: name,
    field_name: name.toUpperCase(),
    type,
    config: {},
    is_active: true,
    is_required: false,
    is_read_only: false,
    default_value: null,
    ...more,
  }) as Field

const stage = (id: number, pipeline: number, kind: 1 | 2 | 3): Stage =>
  ({ id, pipeline, kind, name: `S${id}`, position: id, probability: 50, rotting_days: null }) as Stage

const stages = [stage(3, 2, 1), stage(4, 2, 1), stage(7, 2, 2), stage(8, 2, 3), stage(9, 5, 1)]

test('what is sent is what has changed, as the kinds write it', () => {
  const fields = [field('title', 'SINGLE_STRING'), field('amount', 'SINGLE_NUMBER'), field('tags', 'TAGS')]
  const record = { title: 'a', amount: 1, tags: [1] }
  const values = { title: 'a', amount: '9007199254740993', tags: [] }
  const changes = draft.serializeValues(draft.changesOf(record, values), fields)
  assert.equal(JSON.stringify(changes), '{"amount":9007199254740993,"tags":[]}')
  assert.ok(draft.isSame(undefined, null), 'absent and null mean the same')
})

test('only what both have changed, to different values, clashes', () => {
  const base = { title: 'a', notes: 'b', tags: [1] }
  const theirs = { title: 'x', notes: 'b', tags: [2] }
  assert.deepEqual(draft.conflictingFields(base, theirs, { title: 'y' }), ['title'])
  assert.deepEqual(draft.conflictingFields(base, theirs, { title: 'x' }), [])
  assert.deepEqual(draft.conflictingFields(base, theirs, { notes: 'c', tags: [1, 2] }), ['tags'])
})

test('a missing and a bad value have their problem', () => {
  const fields = [field('title', 'SINGLE_STRING', { config: { max_length: 3 } }), field('owner', 'OWNER')]
  assert.deepEqual(draft.problemsOf({ title: 'long', owner: null }, fields, new Set(['owner'])), {
    title: 'Must have at most 3 characters, but has 4.',
    owner: 'OWNER is required.',
  })
  assert.deepEqual(draft.problemsOf({ title: '  ' }, fields, new Set(['title'])), {
    title: 'TITLE is required.',
  })
})

test('a deal is asked for what its stage and forecast need', () => {
  const asked = (values: object) => rules.conditionallyRequired('deal', { ...values }, stages)
  assert.deepEqual(asked({ pipeline_stage: 3 }), [])
  assert.deepEqual(asked({ pipeline_stage: 7 }), ['won_reason', 'deal_closed_on'])
  assert.deepEqual(asked({ pipeline_stage: 8, forecast_category: 1 }), [
    'lost_reason',
    'deal_closed_on',
    'expected_close_date',
  ])
  assert.deepEqual(rules.conditionallyRequired('contact', { pipeline_stage: 7 }, stages), [])
})

test('a stage that closes a deal, closes it otherwise or reopens it asks first', () => {
  const asked = (from: number | undefined, to: number) => {
    const found = rules.stageTransition({ pipeline_stage: from }, { pipeline_stage: to }, stages)
    return found && [found.from?.id, found.to.id]
  }
  assert.deepEqual(asked(3, 7), [3, 7])
  assert.deepEqual(asked(7, 8), [7, 8])
  assert.deepEqual(asked(7, 3), [7, 3])
  assert.equal(asked(7, 7), undefined)
  // Of many, any may be open yet.
  assert.deepEqual(asked(undefined, 7), [undefined, 7])
  assert.equal(asked(undefined, 3), undefined)
  assert.equal(rules.stageTransition({ pipeline_stage: 3 }, { title: 'x' }, stages), undefined)
})

test('a new deal begins where it was asked for, and a copy begins open', () => {
  const me = { user: { id: 10 } } as Parameters<Rules['initialValues']>[3]['me']
  const pipelines = [{ id: 2, name: 'Sales', position: 1, is_default: 1, card_fields: [] }]
  const known = { me, pipelines, stages }
  assert.deepEqual(rules.initialValues('deal', {}, [], known), {
    sales_owner: 10,
    pipeline: 2,
    pipeline_stage: 3,
  })
  assert.deepEqual(rules.initialValues('deal', { pipeline_stage: 9 }, [], known), {
    sales_owner: 10,
    pipeline: 5,
    pipeline_stage: 9,
  })
  const fields = ['title', 'pipeline', 'pipeline_stage', 'lost_reason', 'notes'].map(name =>
    field(name, 'DROPDOWN'),
  )
  const lost = { title: 'Old', pipeline: 2, pipeline_stage: 8, lost_reason: 4, notes: null }
  assert.deepEqual(rules.copyOf(lost, fields, stages), {
    title: 'Old (copy)',
    pipeline: 2,
    pipeline_stage: 3,
  })
})

test('what was typed becomes a person or a company', async () => {
  const { newRelated, writeNew } = (await vite.ssrLoadModule(
    '/src/fields/references/new-related.ts',
  )) as Related
  assert.deepEqual(newRelated('contact', 'Noor Al Haddad'), { first_name: 'Noor Al', last_name: 'Haddad' })
  assert.deepEqual(newRelated('contact', 'Cher'), { first_name: null, last_name: 'Cher' })
  assert.deepEqual(newRelated('contact', 'Ada Keys <ada@example.com>'), {
    first_name: 'Ada',
    last_name: 'Keys',
    emails: [{ email_type: 1, email_value: 'ada@example.com' }],
  })
  assert.deepEqual(newRelated('company', ' Haddad Foods '), { name: 'Haddad Foods' })
  assert.deepEqual(
    writeNew({ first_name: null, last_name: 'Cher', emails: [], company: { name: 'X', website: null } }),
    {
      last_name: 'Cher',
      company: { name: 'X' },
    },
  )
})

test('events and activities wait for what is older of the others and still to be read', async () => {
  const { merged } = (await vite.ssrLoadModule('/src/records/timeline/history.ts')) as History
  const events = ['2026-03-03', '2026-03-02'].map(
    (at, seq) => ({ seq, at }) as Parameters<History['merged']>[0]['events'][number],
  )
  const done = ['2026-03-04', '2026-03-01'].map((done_at, id) => ({ id, done_at }))
  const days = (isWhole: boolean, isAll: boolean, last = 2) =>
    merged({ events, isWhole }, { done: done.slice(0, last), isAll }).map(({ at }) => at)
  assert.deepEqual(days(false, true), ['2026-03-04', '2026-03-03', '2026-03-02'])
  assert.deepEqual(days(true, true), ['2026-03-04', '2026-03-03', '2026-03-02', '2026-03-01'])
  assert.deepEqual(days(true, false, 1), ['2026-03-04'])
})

test('what is to be done is told apart by the day of the reader', () => {
  const activities = [
    { id: 1, due_at: '2026-03-28T23:30:00Z' },
    { id: 2, due_at: '2026-03-27T10:00:00Z' },
    { id: 3, due_at: '2026-04-05T10:00:00Z' },
    { id: 4, due_at: '2026-04-06T10:00:00Z' },
    { id: 5, due_at: null },
  ]
  const dayOf = (iso: string) => (iso.includes('23:30') ? '2026-03-29' : iso.slice(0, 10))
  const agenda = agendaOf(activities, '2026-03-29', addDays('2026-03-29', 7), dayOf)
  const ids = Object.fromEntries(
    Object.entries(agenda).map(([name, list]) => [name, list.map(({ id }) => id)]),
  )
  assert.deepEqual(ids, { overdue: [2], today: [1], soon: [3], later: [4], undated: [5] })
  assert.equal(addDays('2026-12-31', 1), '2027-01-01')
})

test('the days of a next step', () => {
  const mondays = ['2026-11-29', '2026-11-30', '2026-12-01', '2026-12-06'].map(nextMonday)
  assert.deepEqual(mondays, ['2026-11-30', '2026-12-07', '2026-12-07', '2026-12-07'])
  const choices = (['none', 'tomorrow', 'soon', 'monday', 'picked'] as const).map(choice =>
    dayOfChoice(choice, '2026-12-30', null),
  )
  assert.deepEqual(choices, [null, '2026-12-31', '2027-01-02', '2027-01-04', '2026-12-31'])
  assert.equal(dayOfChoice('picked', '2026-12-30', '2027-02-01'), '2027-02-01')
})
