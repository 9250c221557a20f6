/** What the columns of files are guessed to be (D80). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { guessMapping, systemOf, targetsOf, valuesToMap } from '../../src/imports/guess.ts'
import type { Cell } from '../../src/imports/read.ts'
import { type System, templates } from '../../src/imports/templates.ts'
import { catalog } from '../support/import-catalog.ts'

const fieldsOf = (resource: string) => catalog.resources.get(resource)!

/** Column → target, of columns with their first cells. */
async function guessed(resource: string, columns: { readonly [name: string]: Cell }) {
  const names = Object.keys(columns)
  const mapping = await guessMapping(catalog, fieldsOf(resource), names, [Object.values(columns)])
  return Object.fromEntries(mapping.map(({ column, field }) => [names[column]!, field]))
}

test('targets are fields, their parts, and the members of what they point to', () => {
  const targets = new Map(targetsOf(catalog, fieldsOf('deal')).map(target => [target.field, target]))
  for (const field of [
    'title',
    'deal_value.value',
    'company.name',
    'primary_contact.emails.work',
    'created_at',
    'cf_colors',
  ])
    assert.ok(targets.has(field), field)
  for (const field of [
    'id',
    'version',
    'age',
    'weighted_value',
    'stage_rotting_days',
    'updated_at',
    'company.id',
  ])
    assert.ok(!targets.has(field), field)
  const { label, type, isRequired, options } = targets.get('pipeline_stage')!
  assert.deepEqual({ label, type, isRequired }, { label: 'Stage', type: 'DROPDOWN', isRequired: true })
  assert.deepEqual(
    options?.map(({ name }) => name),
    ['Qualified', 'Proposal', 'Won', 'Lost'],
  )
  assert.equal(targets.get('company.name')!.label, 'Company: Name')
})

test('every target that a template names is there', () => {
  for (const [system, resources] of Object.entries(templates)) {
    for (const [resource, columns] of Object.entries(resources)) {
      const known = new Set(targetsOf(catalog, fieldsOf(resource)).map(({ field }) => field))
      const unknown = Object.entries(columns).filter(([, field]) => !known.has(field))
      assert.deepEqual(unknown, [], `${system} ${resource}`)
    }
  }
})

test('all columns of a template are guessed as it says', async () => {
  for (const [system, resources] of Object.entries(templates) as [System, typeof templates.hubspot][]) {
    for (const [resource, columns] of Object.entries(resources)) {
      for (const [name, field] of Object.entries(columns)) {
        const [found] = await guessMapping(catalog, fieldsOf(resource), [name], [], system)
        assert.equal(found?.field, field, `${system} ${resource} ${name}`)
      }
    }
  }
})

test('an export of another system is known by its columns', async () => {
  assert.equal(systemOf('deal', ['Deal - Title', 'Deal - Value', 'x']), 'pipedrive')
  assert.equal(systemOf('deal', ['Record ID', 'Deal Name', 'Deal Stage', 'Amount']), 'hubspot')
  assert.equal(systemOf('deal', ['Opportunity Name', 'Stage', 'Account Name']), 'salesforce')
  assert.equal(systemOf('deal', ['a', 'Amount']), null)
  const pipedrive = await guessed('deal', {
    ...{ 'Deal - ID': '1', 'Deal - Title': 'A', 'Deal - Value': '5', 'Deal - Currency of Value': 'EUR' },
    ...{ 'Deal - Organization': 'Acme', 'Deal - Contact person': 'Ada L', 'Person - Email - Work': 'a@b.de' },
    ...{ 'Deal - Stage': 'Proposal', 'Deal - Status': 'Open', 'Deal - Won time': '' },
  })
  assert.deepEqual(pipedrive, {
    ...{ 'Deal - Title': 'title', 'Deal - Value': 'deal_value.value' },
    ...{ 'Deal - Currency of Value': 'deal_value.currency', 'Deal - Organization': 'company.name' },
    ...{
      'Deal - Contact person': 'primary_contact.name',
      'Person - Email - Work': 'primary_contact.emails.work',
    },
    ...{ 'Deal - Stage': 'pipeline_stage', 'Deal - Status': 'status', 'Deal - Won time': 'won_time' },
  })
})

test('names, labels and synonyms', async () => {
  const columns = {
    ...{
      Opportunity: 'A',
      Amount: '5',
      'Close date': '2026-01-01',
      'Assigned to': 'Ann',
      Organisation: 'Acme',
    },
    ...{
      'Lost reason': 'Price',
      Seats: '5',
      Colors: 'Red',
      'E-Mail': 'a@b.de',
      'Mobile phone': '0123 456789',
    },
    ...{ Created: '2026-01-01', tite: 'x' },
  }
  assert.deepEqual(await guessed('deal', columns), {
    ...{ Opportunity: 'title', Amount: 'deal_value.value', 'Close date': 'expected_close_date' },
    ...{ 'Assigned to': 'sales_owner', Organisation: 'company.name', 'Lost reason': 'lost_reason' },
    ...{ Seats: 'cf_seats', Colors: 'cf_colors', 'E-Mail': 'primary_contact.emails' },
    ...{ 'Mobile phone': 'primary_contact.phones.mobile', Created: 'created_at' },
  })
  assert.deepEqual(await guessed('deal', { tilte: 'x' }), { tilte: 'title' })
})

test('contents decide where names leave it open', async () => {
  assert.deepEqual(await guessed('deal', { company: '17' }), { company: 'company' })
  assert.deepEqual(await guessed('deal', { company: 'Acme' }), { company: 'company.name' })
  assert.deepEqual(await guessed('deal', { contact: 'ada@acme.com' }), { contact: 'primary_contact.emails' })
  assert.deepEqual(await guessed('deal', { contact: 'Ada L' }), { contact: 'primary_contact.name' })
  assert.deepEqual(await guessed('deal', { Betrag: '1.250,50 €' }), { Betrag: 'deal_value' })
  assert.deepEqual(await guessed('deal', { Phase: 'proposal', Herkunft: 'Trade fair' }), {
    ...{ Phase: 'pipeline_stage', Herkunft: 'source' },
  })
  assert.deepEqual(await guessed('contact', { Kontakt: 'jo@x.com' }), { Kontakt: 'emails' })
  // A name whose cells are something else is not believed.
  assert.deepEqual(await guessed('deal', { 'Expected close date': 'no idea' }), {})
})

test('dates and plain numbers are no phones, and a field that nobody writes is no other one', async () => {
  const dates = { Datum: '25.12.2026', Termin: '2026-11-30', Day: '12/25/2026', When: '31.12.26' }
  const numbers = {
    Ref: '1333.26',
    Nr: '20260001',
    Count: '1 234 567.50',
    Menge: '1.234.567',
    Id: '2026-0001',
  }
  for (const [name, cell] of Object.entries({ ...dates, ...numbers }))
    assert.deepEqual(await guessed('deal', { [name]: cell }), {}, cell)
  const phones = ['+49 170 123', '+491701234567', '0170 1234567', '(020) 7946 0958', '555-123-4567']
  for (const cell of phones)
    assert.deepEqual(await guessed('deal', { x: cell }), { x: 'primary_contact.phones' }, cell)
  for (const name of ['deal_value_in_base_currency.value', 'weighted_value', 'Weighted value', 'age'])
    assert.deepEqual(await guessed('deal', { [name]: '+49 170 1234567' }), {}, name)
})

test('common names in German, French and Spanish; units in brackets say nothing', async () => {
  const meant = {
    title: ['Titel', 'Titre', 'Título'],
    'deal_value.value': ['Betrag', 'Montant', 'Importe', 'Amount (EUR)', 'Deal value [k€]'],
    'deal_value.currency': ['Währung', 'Devise', 'Moneda'],
    sales_owner: ['Besitzer', 'Owner', 'Propriétaire', 'Propietario'],
    pipeline_stage: ['Phase', 'Étape', 'Etapa'],
    'primary_contact.name': ['Kontakt', 'Contact', 'Contacto'],
    'company.name': ['Firma', 'Société', 'Empresa'],
    expected_close_date: ['Close date', 'Expected close', 'Abschlussdatum', 'Fecha de cierre'],
    'primary_contact.phones.mobile': ['Handy', 'Téléphone portable', 'Mobil'],
  }
  for (const [field, names] of Object.entries(meant))
    for (const name of names) assert.deepEqual(await guessed('deal', { [name]: '' }), { [name]: field }, name)
})

test('the very name of a target is mapped to it, whatever its cells are', async () => {
  const names = [
    'deal_value.value',
    'deal_value.currency',
    'expected_deal_value.value',
    'expected_deal_value.currency',
  ]
  for (const cell of ['978', 'EUR', 'no idea', '', '{"a":1}'])
    for (const name of names)
      assert.deepEqual(await guessed('deal', { [name]: cell }), { [name]: name }, cell)
  const both = {
    Title: 'A',
    title: 'B',
    deal_value: '5',
    'deal_value.currency': '978',
    expected_close_date: 'x',
  }
  assert.deepEqual(await guessed('deal', both), {
    ...{ title: 'title', deal_value: 'deal_value.value', 'deal_value.currency': 'deal_value.currency' },
    expected_close_date: 'expected_close_date',
  })
  const unknown = valuesToMap(
    ...([catalog, fieldsOf('deal'), [{ column: 0, field: 'deal_value.currency' }]] as const),
    new Map([[0, ['978', '999']]]),
  )
  assert.deepEqual(unknown[0]?.texts, [{ text: '999', guess: null }])
})

test('a target has one column, and a person one kind of name', async () => {
  const twice = await guessed('deal', { Title: 'A', title: 'B', 'title (2)': 'C' })
  assert.deepEqual(Object.values(twice), ['title'])
  const names = await guessed('contact', { Name: 'A B', 'First name': 'A', 'Last name': 'B' })
  assert.ok(!(Object.values(names).includes('name') && Object.values(names).includes('last_name')))
})

test('texts that name nothing are told, with what they may mean', () => {
  const mapping = [
    { column: 0, field: 'pipeline_stage' },
    { column: 1, field: 'deal_value.currency' },
    { column: 2, field: 'cf_colors' },
    { column: 3, field: 'sales_owner' },
    { column: 4, field: 'title' },
  ]
  const values = new Map([
    [0, ['Closed won', 'proposal', 'Discovery']],
    [1, ['EUR', '€', 'Bitcoin']],
    [2, ['Red; Gren', 'Green']],
    [3, ['Ann Lee', 'Ann Le', '7']],
    [4, ['x']],
  ])
  assert.deepEqual(
    valuesToMap(catalog, fieldsOf('deal'), mapping, values, [{ id: 7, name: 'Ann Lee', email: 'ann@x.com' }]),
    [
      {
        ...{ column: 0, field: 'pipeline_stage' },
        texts: [
          { text: 'Closed won', guess: 3 },
          { text: 'Discovery', guess: null },
        ],
      },
      { column: 1, field: 'deal_value.currency', texts: [{ text: 'Bitcoin', guess: null }] },
      { column: 2, field: 'cf_colors', texts: [{ text: 'Gren', guess: 42 }] },
      { column: 3, field: 'sales_owner', texts: [{ text: 'Ann Le', guess: 7 }] },
    ],
  )
})
