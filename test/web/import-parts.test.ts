/** What the pages of imports and jobs are made of: formats of files, what is missing, counts and progress. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formats } from '../../web/src/format/format.ts'
import { typeOf } from '../../web/src/imports/file-type.ts'
import { missing } from '../../web/src/imports/missing.ts'
import { countsOf, progressOf, stateOf } from '../../web/src/jobs/job-words.ts'

const format = formats({ locale: 'en', timeZone: 'UTC' })
const none = { created: 0, updated: 0, unchanged: 0, skipped: 0, reverted: 0, related: 0, refused: 0 }

test('the ending of a name says the format', () => {
  assert.equal(typeOf('Deals of 2026.CSV')?.format, 'csv')
  assert.equal(typeOf('a.b.tsv')?.format, 'csv')
  assert.equal(typeOf('people.ndjson')?.format, 'jsonl')
  assert.equal(typeOf('sheet.xlsx')?.format, 'xlsx')
  for (const name of ['csv', 'x.docx', 'x.', 'x.constructor']) assert.equal(typeOf(name), null, name)
})

test('what each record needs and no column becomes is missing', () => {
  const field = (internal_name: string, more: object = {}) => ({
    ...{ internal_name, field_name: internal_name, is_active: true, is_required: true },
    ...{ is_read_only: false, default_value: null, ...more },
  })
  const fields = [
    ...[field('first_name', { is_required: false }), field('last_name'), field('emails')],
    ...[field('stage', { default_value: 3 }), field('id', { is_read_only: true })],
  ]
  const to = (...names: string[]) => names.map((field, column) => ({ field, column }))
  assert.deepEqual(missing({ mapping: [], targets: [] }, fields), ['last_name', 'emails'])
  assert.deepEqual(missing({ mapping: to('name', 'emails.work'), targets: [] }, fields), [])
  assert.deepEqual(missing({ mapping: to('last_name'), targets: [] }, fields), ['emails'])
  // The service says what is required, once its targets tell.
  const targets = [{ field: 'emails', label: 'E-mails', isRequired: true }]
  assert.deepEqual(missing({ mapping: [], targets }, fields), ['emails'])
})

test('counts say what would be, what was, and what stayed', () => {
  const said = (...[kind, phase, counts]: Parameters<typeof countsOf>) =>
    countsOf(kind, phase, counts).map(({ count, words }) => `${count} ${words}`)
  const some = { ...none, created: 5, skipped: 2, related: 3, refused: 1 }
  assert.deepEqual(said('import', 'dry_run', { ...some, related: 0 }), [
    ...['5 would be created', '2 would be skipped', '1 would be refused'],
  ])
  assert.deepEqual(said('import', 'run', some), [
    ...['5 created', '2 skipped', '3 contacts and companies made', '1 refused'],
  ])
  assert.deepEqual(said('bulk', 'run', none), ['0 changed', '0 refused'])
  assert.deepEqual(said('bulk', 'revert', { ...none, reverted: 4 }), ['4 taken back', '0 stayed as they are'])
})

test('progress has the rate and what is left, while it runs', () => {
  const job = { kind: 'import', phase: 'run', state: 'running', done: 1000, total: 5000, rate: 100 } as never
  assert.equal(progressOf(job, format), '1,000 of 5,000 rows · 100 a second · about 40 seconds left')
  const ended = { kind: 'bulk', phase: 'revert', state: 'done', done: 7, total: 7, rate: 100 } as never
  assert.equal(progressOf(ended, format), '7 of 7 changes')
  assert.equal(stateOf({ kind: 'bulk', state: 'done', phase: 'revert' }).text, 'Taken back')
  assert.equal(stateOf({ kind: 'import', state: 'running', phase: 'dry_run' }).text, 'Trying')
})
