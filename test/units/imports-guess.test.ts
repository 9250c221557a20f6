/** The guessed targets of files' columns (D80). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../../src/files/read.ts'
import { guessColumns, systemOf, targetsOf } from '../../src/work/imports/guess.ts'
import { type System, templates } from '../../src/work/imports/templates.ts'
import { valuesToMap } from '../../src/work/imports/values.ts'
import { catalog } from '../support/import-catalog.ts'

const fieldsOf = (resource: string) => catalog.resources.get(resource)!

type Columns = { readonly [name: string]: Cell }

const guessOf = (resource: string, columns: Columns, system?: System) =>
  guessColumns(
    ...([catalog, fieldsOf(resource), Object.keys(columns), [Object.values(columns)]] as const),
    ...([undefined, system] as const),
  )

/** Column → target, of columns with their first cells: the certain ones and those that need confirmation. */
async function guessed(resource: string, columns: Columns) {
  const names = Object.keys(columns)
  const { mapping, unmapped } = await guessOf(resource, columns)
  const asked = unmapped.filter(({ why }) => ['near', 'contents', 'unnamed'].includes(why))
  return Object.fromEntries([...mapping, ...asked].map(({ column, field }) => [names[column]!, field]))
}

/** Column → its target, or the reason why it has none. */
async function told(resource: string, columns: Columns) {
  const { mapping, unmapped } = await guessOf(resource, columns)
  return Object.keys(columns).map(
    (_, index) =>
      mapping.find(({ column }) => column === index)?.field ??
      unmapped.find(({ column }) => column === index)!.why,
  )
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

test('stages of several pipelines are told with their pipeline', () => {
  const partners = { ...catalog.pipelines.get(1)!, id: 2, name: 'Partners' }
  const stages = new Map(
    [...catalog.stages].map(([id, stage]) => [id, id > 2 ? { ...stage, pipeline: 2 } : stage]),
  )
  const two = { ...catalog, pipelines: new Map([...catalog.pipelines, [2, partners]]), stages }
  const { options } = targetsOf(two, fieldsOf('deal')).find(({ field }) => field === 'pipeline_stage')!
  assert.deepEqual(
    options?.map(({ name }) => name),
    ['Sales · Qualified', 'Sales · Proposal', 'Partners · Won', 'Partners · Lost'],
  )
})

test('every target that a template names is there', () => {
  for (const [system, resources] of Object.entries(templates)) {
    for (const [resource, columns] of Object.entries(resources)) {
      const known = new Set(targetsOf(catalog, fieldsOf(resource)).map(({ field }) => field))
      const unknown = Object.entries(columns).filter(([, field]) => field !== null && !known.has(field))
      assert.deepEqual(unknown, [], `${system} ${resource}`)
    }
  }
})

test('all columns of a template are guessed as it says', async () => {
  for (const [system, resources] of Object.entries(templates) as [System, typeof templates.hubspot][]) {
    for (const [resource, columns] of Object.entries(resources)) {
      for (const [name, field] of Object.entries(columns)) {
        const { mapping, unmapped } = await guessOf(resource, { [name]: '' }, system)
        const found = [...mapping, ...unmapped].find(one => one.field !== null)?.field
        if (field !== null) assert.equal(found, field, `${system} ${resource} ${name}`)
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
  // A column with our own name is trusted whatever the cells are, so that they are refused; another one is
  // not.
  assert.deepEqual(await told('deal', { 'Expected close date': 'no idea' }), ['expected_close_date'])
  assert.deepEqual(await told('deal', { 'Close date': 'no idea' }), ['misfit'])
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

test('a German price list', async () => {
  assert.deepEqual(
    await guessed('product', { 'Artikel-Nr.': 'A-100', Bezeichnung: 'Reifen', Listenpreis: '12,50 €' }),
    { 'Artikel-Nr.': 'product_code', Bezeichnung: 'name', Listenpreis: 'unit_price' },
  )
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

test('several prices of a product are told apart by the currencies of their columns', async () => {
  const two = { 'unit_price.price.USD': 'x', 'unit_price.price.EUR': 'x' }
  for (const [dollar, euro] of [
    ['Price USD', 'Price EUR'],
    ['USD price', 'Preis (EUR)'],
    ['price_usd', 'price_eur'],
    ['Price $', 'Price in €'],
    ['List price [USD]', 'PriceEUR'],
  ] as const) {
    const found = await guessed('product', { Name: 'A', [dollar]: '1', [euro]: '2' })
    assert.deepEqual(Object.values(found).slice(1), Object.keys(two), `${dollar}, ${euro}`)
  }
  assert.deepEqual(await told('product', { Price: '$3', 'Price EUR': '2', 'EUR price': '1' }), [
    ...['unit_price.price', 'unit_price.price.EUR', 'taken'],
  ])
  assert.deepEqual(await told('product', { 'Price EUR': '2' }), ['unit_price.price'])
  // A deal has one amount, so the other needs confirmation; a currency without a rate is unknown.
  assert.deepEqual(await told('deal', { 'Amount EUR': '2', 'Amount (USD)': '1' }), [
    'deal_value.value',
    'taken',
  ])
  assert.deepEqual(await told('product', { 'Price NIO': '2', 'Top price': '1' }), ['unknown', 'unknown'])
})

test('the currency of an amount may stand in a column that is called after it', async () => {
  const columns = { 'Total Amount': '5', 'Total Amount Currency': 'EUR', 'Expected Revenue Currency': 'USD' }
  assert.deepEqual(await told('deal', columns), [
    ...['deal_value.value', 'deal_value.currency', 'expected_deal_value.currency'],
  ])
})

test('ids of other systems are known in capitals, too, and nobody is called by one', async () => {
  const [account, owner, author] = ['001A000000xYz1', '005A000000Abc2', '005A000000Abc2']
  assert.deepEqual(await told('deal', { ACCOUNTID: account, OWNERID: owner, CREATEDBYID: author }), [
    ...['foreign_id', 'foreign_id', 'foreign_id'],
  ])
  assert.deepEqual(await told('deal', { Company: account, Contact: 'AB-1042' }), ['numbers', 'numbers'])
  assert.deepEqual(await told('deal', { Company: 'Studio54', PAID: 'yes' }), [
    ...['company.name', 'payment_status'],
  ])
  // Some exports have names in columns called ids.
  assert.deepEqual(await told('company', { name: 'A', country_id: 'Norway' }), ['name', 'address.country'])
})

test('a letter before digits is no currency, and what a thing costs is no price', async () => {
  const letter = { ...catalog.currencyList[0]!, id: 72, code: 'BWP', symbol: 'P', rate: null }
  const currencyList = [...catalog.currencyList, letter]
  const known = {
    ...catalog,
    currencyList,
    currencyByCode: new Map([...catalog.currencyByCode, ['BWP', letter]]),
  }
  const codes = await guessColumns(known, fieldsOf('deal'), ['Part'], [['P001'], ['P002']])
  assert.deepEqual(codes.unmapped, [{ column: 0, why: 'unknown', field: null }])
  assert.deepEqual(await told('product', { Cost: '3', Verkaufspreis: '5' }), ['unknown', 'unit_price.price'])
})

test('a person is called by the parts of the name where both are there, else by the whole', async () => {
  const parts = { 'Given Name': 'Ann', 'Family Name': 'Lee Roe', Name: 'Ann Lee Roe' }
  assert.deepEqual(await told('contact', parts), ['first_name', 'last_name', 'said_better'])
  assert.deepEqual(await told('contact', { 'Display name': 'Ann Lee', Phone: '' }), ['name', 'phones'])
  assert.deepEqual(await told('contact', { 'Full name': 'Ann Lee' }), ['name'])
  // Beside a first name alone, the name is the last one, unless it has both.
  assert.deepEqual(await told('contact', { Vorname: 'Ann', Name: 'Lee' }), ['first_name', 'last_name'])
  assert.deepEqual(await told('contact', { Vorname: 'Ann', Name: 'Ann Lee' }), ['said_better', 'name'])
})

test('a day that is called Close is that of the expected close', async () => {
  assert.deepEqual(await told('deal', { Close: '2026-05-04' }), ['expected_close_date'])
  assert.deepEqual(await told('deal', { Close: 'soon' }), ['misfit'])
})

test('a target has one column, and a person one kind of name', async () => {
  const twice = await guessed('deal', { Title: 'A', title: 'B', 'title (2)': 'C' })
  assert.deepEqual(Object.values(twice), ['title'])
  const names = await guessed('contact', { Name: 'A B', 'First name': 'A', 'Last name': 'B' })
  assert.deepEqual(Object.values(names), ['first_name', 'last_name'])
})

test('texts that name nothing are told, with what they may mean', () => {
  const mapping = [
    { column: 0, field: 'pipeline_stage' },
    { column: 1, field: 'deal_value.currency' },
    { column: 2, field: 'cf_colors' },
    { column: 3, field: 'sales_owner' },
    { column: 4, field: 'title' },
    { column: 5, field: 'tags' },
    { column: 6, field: 'territory' },
  ]
  const values = new Map([
    [0, ['Closed won', 'proposal', 'Discovery']],
    [1, ['EUR', '€', 'Bitcoin']],
    [2, ['Red; Gren', 'Green, Red, Grey']],
    [3, ['Ann Lee', 'Ann Le', '7']],
    [4, ['x']],
    [5, ['KEY ACCOUNT', 'Key account, VIP; 9', '"A, B"; VIP', '["VIP", "Key acount"]']],
    // The values of these can't be known.
    [6, ['North']],
  ])
  const [colors, tags] = [
    [
      { text: 'Gren', guess: 42 },
      { text: 'Grey', guess: null },
    ],
    [
      ...[
        { text: 'VIP', guess: null },
        { text: 'A, B', guess: null },
      ],
      ...[{ text: 'Key acount', guess: 9 }],
    ],
  ]
  const choices = new Map([
    ['user', [{ id: 7, name: 'Ann Lee', email: 'ann@x.com' }]],
    ['tag', [{ id: 9, name: 'Key account' }]],
  ])
  assert.deepEqual(valuesToMap(catalog, fieldsOf('deal'), mapping, values, choices), [
    {
      ...{ column: 0, field: 'pipeline_stage' },
      texts: [
        { text: 'Closed won', guess: 3 },
        { text: 'Discovery', guess: null },
      ],
    },
    { column: 1, field: 'deal_value.currency', texts: [{ text: 'Bitcoin', guess: null }] },
    { column: 2, field: 'cf_colors', texts: colors },
    { column: 3, field: 'sales_owner', texts: [{ text: 'Ann Le', guess: 7 }] },
    { column: 5, field: 'tags', texts: tags },
  ])
})

test('a user is known by the name turned, too, and by one that is out of use', () => {
  const choices = new Map([
    ['user', [{ id: 7, name: 'Ann Lee' } as const, { id: 8, name: 'Bo Van Orten', isIdle: true } as const]],
    ['tag', [{ id: 9, name: 'Key account' }]],
  ])
  const texts = ['Lee, Ann', 'lee ann', 'Van Orten, Bo', 'Orten Bo', 'Account key']
  const toMap = (field: string) =>
    valuesToMap(catalog, fieldsOf('deal'), [{ column: 0, field }], new Map([[0, texts]]), choices)
  assert.deepEqual(
    toMap('sales_owner')[0]!.texts.map(({ text }) => text),
    ['Orten Bo', 'Account key'],
  )
  assert.ok(toMap('tags')[0]!.texts.some(({ text }) => text === 'Account key'))
})

test('texts are compared with so many names for guesses, of however many columns', () => {
  const tags = Array.from({ length: 2000 }, (_, index) => ({ id: index + 1, name: `Tag ${index}` }))
  const choices = new Map([['tag', tags]])
  const texts = [Array.from({ length: 300 }, (_, index) => `My tag ${index}`).join(';')]
  const schema = fieldsOf('deal')
  const toMap = (columns: readonly number[]) =>
    valuesToMap(
      ...([catalog, schema, columns.map(column => ({ column, field: 'tags' }))] as const),
      ...([new Map(columns.map(column => [column, texts])), choices] as const),
    )
  for (const columns of [[0], [0, 1]]) {
    const told = toMap(columns).flatMap(one => one.texts)
    assert.equal(told.length, 300 * columns.length)
    assert.equal(told.filter(({ guess }) => guess !== null).length, 250)
  }
})

test('each column is mapped, left out for a reason, or open', async () => {
  const deal = {
    ...{ 'Deal Name': 'A', Amount: '5', 'Close Date': '2026-01-01', 'Old ID': 'x1', weighted_value: '7' },
    ...{ 'Updated at': '2026-01-01', ID: '5', id: '7', 'Organization ID': '2', 'Person ID': '3' },
    ...{ 'Owner ID': '4', 'Stage ID': '5', AccountId: '0011A00001', Company: '4711', Phase: '9' },
    ...{ Pahse: 'x', 'Amount 2': '7', line: '3', problems: 'x' },
  }
  assert.deepEqual(await told('deal', deal), [
    ...['title', 'deal_value.value', 'expected_close_date', 'unknown', 'read_only'],
    ...['read_only', 'foreign_id', 'read_only', 'foreign_id', 'foreign_id'],
    ...['foreign_id', 'foreign_id', 'foreign_id', 'numbers', 'numbers'],
    ...['unknown', 'unknown', 'refused_file', 'refused_file'],
  ])
  // Our own names mean that ids are ours.
  const ours = { company: '17', pipeline_stage: '1', sales_owner: '2', primary_contact: '3' }
  assert.deepEqual(await told('deal', ours), Object.keys(ours))
  const empty = await guessColumns(
    ...([catalog, fieldsOf('deal'), ['title', 'Nothing'], [['A', '']]] as const),
    column => column === 1,
  )
  assert.deepEqual(empty.unmapped, [{ column: 1, why: 'empty', field: null }])
  // A column that few cells fit stays; only if none fits, it needs confirmation.
  const amounts = ['n/a', '5', 'n/a'].map(cell => [cell])
  const dirty = await guessColumns(...([catalog, fieldsOf('deal'), ['Amount'], amounts] as const))
  assert.deepEqual(dirty.mapping, [{ column: 0, field: 'deal_value.value' }])
})

test('what a record has itself is not looked for in those that it points to', async () => {
  const company = { Name: 'A', Street: 'Main 1', City: 'Bonn', Zip: '53111', Country: 'Germany', State: 'x' }
  const [line, city, zip, state, country] = ['address_line1', 'city', 'zipcode', 'state', 'country'].map(
    part => `address.${part}`,
  )
  assert.deepEqual(await told('company', company), ['name', line, city, zip, country, state])
  assert.deepEqual(await told('company', { Name: 'A', City: 'Bonn' }), ['name', city])
  assert.deepEqual(await told('company', { Address: 'Main 1', City: 'Bonn' }), [line, city])
  assert.deepEqual(await told('company', { address: '{"city":"Bonn"}' }), ['address'])
  assert.deepEqual(await told('company', { 'Billing City': 'Bonn', 'Street 2': 'x' }), [
    ...[city, 'address.address_line2'],
  ])
  const contact = {
    ...{ 'First Name': 'Jo', 'Last Name': 'Doe', Company: 'Two', 'Work Phone': '+49 111 22233' },
    ...{ Cell: '+49 170 123', Fax: '+49 111 22234', City: 'Bonn', URL: 'https://x.com' },
    ...{ email_work: 'a@b.de', email_home: 'c@d.de', 'E-mail 2': 'e@f.de', 'E-mail 3': 'g@f.de' },
    ...{ 'Phone (2)': '+49 222 33', 'Company phone': '+49 111 0', 'Company city': 'Bonn' },
  }
  assert.deepEqual(await told('contact', contact), [
    ...['first_name', 'last_name', 'company.name', 'phones.work', 'phones.mobile', 'nowhere', 'unknown'],
    ...['unknown', 'emails.work', 'emails.home', 'emails.other', 'taken', 'phones.other'],
    ...['company.phones', 'company.address.city'],
  ])
  // Without a company it has no target.
  assert.deepEqual(await told('contact', { 'Last name': 'Doe', 'Company phone': '+49 111 0' }), [
    ...['last_name', 'unnamed'],
  ])
  const deal = {
    'Owner email': 'a@b.de',
    'Contact first': 'Jo',
    'Contact last': 'Doe',
    'Account city': 'Bonn',
  }
  assert.deepEqual(await told('deal', { ...deal, Account: 'Acme', 'Contact E-mail': 'jo@x.com' }), [
    ...['sales_owner', 'primary_contact.first_name', 'primary_contact.last_name', 'company.address.city'],
    ...['company.name', 'primary_contact.emails'],
  ])
})

test('a flag is no number', async () => {
  const product = { SKU: 'W', Name: 'Hood', 'In stock?': '1', Stock: '12', 'Regular price': '45' }
  assert.deepEqual(await told('product', product), [
    ...['sku_number', 'name', 'misfit', 'quantity_in_stock', 'unit_price.price'],
  ])
  assert.deepEqual(await told('product', { Status: 'publish', 'Is active': 'yes' }), ['misfit', 'active'])
})
