/** The parts of the pages of imports and jobs: formats of files, missing fields, counts and progress. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formats } from '../../web/src/format/format.ts'
import { typeOf } from '../../web/src/imports/file-type.ts'
import { guessField } from '../../web/src/imports/guess-field.ts'
import { missingLabels, onlyChoices, openCurrencies } from '../../web/src/imports/missing-fields.ts'
import { countsOf, progressOf, stateOf } from '../../web/src/jobs/job-text.ts'

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
  assert.deepEqual(missingLabels({ mapping: [], targets: [], defaults: {} }, fields), ['last_name', 'emails'])
  assert.deepEqual(
    missingLabels({ mapping: to('name', 'emails.work'), targets: [], defaults: {} }, fields),
    [],
  )
  assert.deepEqual(missingLabels({ mapping: to('last_name'), targets: [], defaults: {} }, fields), ['emails'])
  // The service knows the required fields, once the targets are known.
  const targets = [{ field: 'emails', label: 'E-mails', isRequired: true }]
  assert.deepEqual(missingLabels({ mapping: [], targets, defaults: {} }, fields), ['emails'])
  // A field that all rows have is not missing.
  assert.deepEqual(missingLabels({ mapping: [], targets, defaults: { emails: 'a@b.de' } }, fields), [])
})

test('what has one choice alone is chosen; amounts without a currency are told', () => {
  const options = (...names: string[]) => names.map((name, index) => ({ id: index + 7, name }))
  const targets = [
    { field: 'pipeline', label: 'Pipeline', isRequired: true, options: options('Sales') },
    { field: 'pipeline_stage', label: 'Stage', isRequired: true, options: options('New', 'Won') },
    { field: 'source', label: 'Source', isRequired: false, options: options('Web') },
    ...['deal_value.value', 'deal_value.currency'].map(field => ({ field, label: field })),
  ]
  const of = (...fields: string[]) => fields.map((field, column) => ({ field, column }))
  assert.deepEqual(onlyChoices({ mapping: [], targets, defaults: {} }), { pipeline: 7 })
  assert.deepEqual(onlyChoices({ mapping: of('pipeline'), targets, defaults: {} }), {})
  const open = (...fields: string[]) => openCurrencies({ mapping: of(...fields), targets, defaults: {} })
  assert.deepEqual(open('deal_value.value', 'cf_x.value'), ['deal_value.currency'])
  assert.deepEqual(open('deal_value.value', 'deal_value.currency'), [])
})

test('the samples of a column tell what field it would be', () => {
  const guess = (samples: readonly unknown[], rows = 1000) => {
    const { type, options } = guessField({ name: ' Column ', samples }, 'deal', rows)
    return [type, ...options]
  }
  const five = (...texts: string[]) => Array.from({ length: 5 }, (_, index) => texts[index % texts.length])
  assert.equal(guessField({ name: ' Column ', samples: [] }, 'deal', 1).label, 'Column')
  // The file's own ids identify records, whatever they look like; those of others don't.
  const ids = (name: string, resource: string) => guessField({ name, samples: ['1', '2'] }, resource, 2)
  for (const name of ['Id', 'Record ID', 'record_id', 'Opportunity ID', 'External id'])
    assert.deepEqual(ids(name, 'deal'), {
      ...{ label: 'External id', type: 'SINGLE_STRING', options: [], isKey: true },
    })
  assert.equal(ids('Account ID', 'company').isKey, true)
  for (const name of ['Account ID', 'Paid', 'Bid']) assert.equal(ids(name, 'deal').isKey, false, name)
  assert.deepEqual(guess([]), ['SINGLE_STRING'])
  assert.deepEqual(guess(five('1,250.50', '0', '-3', '1 000 000', '7,5')), ['SINGLE_NUMBER'])
  assert.deepEqual(guess([1, 2.5]), ['SINGLE_NUMBER'])
  // Leading zeros, and digits beyond a number's precision, are those of a code.
  assert.deepEqual(guess(five('00123', '1', '2', '3', '4')), ['SINGLE_STRING'])
  assert.deepEqual(guess(['1234567890123456789', '2', '3', '4', '5']), ['SINGLE_STRING'])
  assert.deepEqual(guess(five('€ 5', '7.50 USD', '$1,000')), ['MONETARY'])
  assert.deepEqual(guess(['2026-03-31', '31/3/26', '31.03.2026']), ['DATE'])
  assert.deepEqual(guess(['9:30', '17:00:30']), ['TIME'])
  assert.deepEqual(guess(['a@example.com']), ['EMAIL'])
  assert.deepEqual(guess(['+49 30 123456']), ['PHONE'])
  assert.deepEqual(guess([true, 'no']), ['DROPDOWN', 'Yes', 'No'])
  assert.deepEqual(guess(['Red', 'Blue']), ['DROPDOWN', 'Red', 'Blue'])
  assert.deepEqual(guess(['Red', 'Blue'], 3), ['SINGLE_STRING'])
  assert.deepEqual(guess(five('a', 'b', 'c', 'd', 'e')), ['SINGLE_STRING'])
  assert.deepEqual(guess(['Two\nlines']), ['TEXT'])
})

test('counts say what would be, what was, and what stayed', () => {
  const said = (...[kind, phase, counts]: Parameters<typeof countsOf>) =>
    countsOf(kind, phase, counts).map(({ count, words }) => `${count} ${words}`)
  const some = { ...none, created: 5, skipped: 2, related: 3, refused: 1 }
  assert.deepEqual(said('import', 'dry_run', { ...some, related: 0 }), [
    ...['5 would be created', '2 would be skipped', '1 would be refused'],
  ])
  assert.deepEqual(said('import', 'run', some), [
    ...['5 created', '2 skipped', '3 contacts and companies created', '1 refused'],
  ])
  assert.deepEqual(said('bulk', 'run', none), ['0 changed', '0 refused'])
  assert.deepEqual(said('bulk', 'revert', { ...none, reverted: 4 }), ['4 undone', '0 not undone'])
})

test('progress has the rate and what is left, while it runs', () => {
  const job = { kind: 'import', phase: 'run', state: 'running', done: 1000, total: 5000, rate: 100 } as never
  assert.equal(progressOf(job, format), '1,000 of 5,000 rows · 100 a second · about 40 seconds left')
  const ended = { kind: 'bulk', phase: 'revert', state: 'done', done: 7, total: 7, rate: 100 } as never
  assert.equal(progressOf(ended, format), '7 of 7 changes')
  assert.equal(stateOf({ kind: 'bulk', state: 'done', phase: 'revert' }).text, 'Undone')
  assert.equal(stateOf({ kind: 'import', state: 'running', phase: 'dry_run' }).text, 'Trying')
})
