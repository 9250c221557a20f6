/**
 * The export (D81) in each format equals the pages of the list with the same filter and sort; hostile texts
 * read back exactly; and a caller exports only what they may see.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { restored } from '../../src/files/write-csv.ts'
import { isNumber, isObject, type Json, type JsonObject, parseJson } from '../../src/json.ts'
import { formatOf } from '../../src/work/exports/formats.ts'
import { importerOf } from '../support/import-jobs.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'
import { cellsOfCsv, cellsOfWorkbook, type SheetCell } from '../support/tables.ts'

const service = await startService()
const { url, token, call, get, known, made } = service
const { upload, told: run } = importerOf(service)

async function fetched(path: string, as = token) {
  const reply = await fetch(`${url}${v1}/${path}`, { headers: { authorization: `Bearer ${as}` } })
  assert.equal(reply.status, 200, path)
  return { headers: reply.headers, bytes: Buffer.from(await reply.arrayBuffer()) }
}

const linesOf = async (path: string, as?: string) =>
  (await fetched(path, as)).bytes.toString().split('\n').slice(0, -1)

async function rowsOf(path: string, as?: string): Promise<string[][]> {
  const text = (await fetched(path, as)).bytes.toString()
  assert.equal(text.slice(0, 1), '\ufeff')
  return cellsOfCsv(text.slice(1))
}

/** All records of a list, page by page. */
async function listed(resource: string, query: string): Promise<JsonObject[]> {
  const records: JsonObject[] = []
  for (let cursor = ''; ; ) {
    const { body, status, text } = await get(
      `${v1}/${resource}/view/list?${query}&pageSize=200&count=none${cursor}`,
    )
    assert.equal(status, 200, text)
    records.push(...body.data)
    if (!body.meta.hasMore) return records
    cursor = `&cursor=${body.meta.nextCursor}`
  }
}

/** The text of a value in a cell of a CSV, as documented in docs/api. */
function told(value: Json): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value) && !value.some(isObject))
    return value.map(item => (typeof item === 'string' ? item : JSON.stringify(item))).join('; ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function valueAt(record: JsonObject, column: string): Json {
  const [name, part] = column.split('.') as [string, string | undefined]
  const value = record[name] ?? null
  return part === undefined ? value : isObject(value) ? (value[part] ?? null) : null
}

const spec = JSON.parse((await get('/openapi.json')).text)
const resources = Object.keys(spec.paths).flatMap(
  path => /^\/rest\/api\/v1\/(\w+)\/view\/list$/.exec(path)?.[1] ?? [],
)
const queries: readonly [resource: string, query: string][] = [
  ...resources.map(name => [name, ''] as [string, string]),
  ['deal', 'sort=title:asc'],
  ['deal', 'sort=expected_close_date:desc,deal_value:asc'],
  ['deal', 'sort=source:desc,created_at:desc&filter=status:eq(Open),deal_value:gt(1000)'],
  ['deal', 'sort=primary_contact:asc'],
  ['deal', 'sort=age:desc&filter=company.name:like(a)'],
  ['deal', 'filter=cf_custom_text_field:notnull(true)&sort=cf_custom_number_field:asc'],
  ['deal', 'filter=title:eq(there is no such deal)'],
  ['contact', 'sort=last_name:desc&fields=last_name,emails,phones'],
  ['product', 'sort=name:asc&fields=name,unit_price'],
]

for (const [resource, query] of queries) {
  test(`${resource} ${query}: every format has what the list has`, async () => {
    const records = await listed(resource, query)
    const lines = await linesOf(`${resource}/export?format=jsonl&${query}`)
    assert.deepEqual(
      lines,
      records.map(record => JSON.stringify(record)),
    )

    const [header, ...rows] = (await rowsOf(`${resource}/export?format=csv&${query}`)) as [
      string[],
      ...string[][],
    ]
    assert.deepEqual(
      rows.map(row => row.map(restored)),
      records.map(record => header.map(column => told(valueAt(record, column)))),
    )
    const fields = records.flatMap(record => Object.keys(record))
    const known = new Set(header.map(column => column.split('.')[0]))
    assert.deepEqual(
      fields.filter(name => !known.has(name)),
      [],
    )

    const { bytes } = await fetched(`${resource}/export?format=xlsx&${query}`)
    const [head, ...cells] = cellsOfWorkbook(bytes) as [SheetCell[], ...SheetCell[][]]
    assert.deepEqual(
      head.map(cell => (cell as { text: string }).text),
      header,
    )
    assert.equal(cells.length, records.length)
    for (const [index, row] of cells.entries())
      for (const [place, cell] of row.entries())
        judge(cell, valueAt(records[index]!, header[place]!), header[place]!)
  })
}

const dayZero = Date.UTC(1899, 11, 30)

function judge(cell: SheetCell, value: Json, column: string): void {
  if (cell && 'number' in cell && cell.style > 0)
    assert.equal(Math.round(dayZero + cell.number * 86_400_000), Date.parse(value as string), column)
  else if (cell && 'number' in cell) assert.equal(cell.number, Number(JSON.stringify(value)), column)
  else assert.equal(cell?.text ?? '', told(value), column)
  assert.ok(!isNumber(value) || !cell || 'number' in cell || JSON.stringify(value).length > 15, column)
  assert.ok(!/_at$|_date$/.test(column) || !cell || ('number' in cell && cell.style > 0), column)
}

test('the file has a name and a type, and what it answers to is said', async () => {
  for (const [format, type] of [
    ['csv', 'text/csv; charset=utf-8'],
    ['jsonl', 'application/jsonl; charset=utf-8'],
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ]) {
    const { headers } = await fetched(`company/export?format=${format}`)
    assert.equal(headers.get('content-type'), type)
    assert.match(
      headers.get('content-disposition')!,
      new RegExp(`^attachment; filename="companies-\\d{4}-\\d\\d-\\d\\d\\.${format}"$`),
    )
    const asked = await call('GET', `${v1}/company/export?format=${format}`, undefined, { accept: type! })
    assert.equal(asked.status, 200)
  }
})

const hostile = [
  '=1+1',
  "'=1+1",
  "''@x",
  "'plain",
  '+49 40 1',
  '-12',
  '@SUM(A1)',
  'quotes " and "" more',
  'two\nlines',
  'windows\r\nlines\rand',
  'a, b; c',
  '  ends with spaces  ',
  'emoji 👩‍👩‍👧 and \u202e right to left',
  '_x0041_ and <b>&amp;</b> \u0001\u001f \uffff',
  ']]>',
  '"',
  "'",
  "x;=cmd|' /C calc'!A0;y",
  'x;"=1+1;y',
  'x\n=1+1',
  'x\t@SUM(A1)',
  "x\r\n-1+cmd|' /C calc'!A0",
  'x\n- A1&',
  "x;'=1\n''+SUM(A1)",
]

test('hostile texts read back exactly in every format, and formulas are defused', async () => {
  const made: number[] = []
  for (const text of hostile) {
    const body = dealBody(known, { title: text, description: `\t${text}`, cf_custom_text_field: text })
    const reply = await call('POST', `${v1}/deal`, body)
    assert.equal(reply.status, 201, reply.text)
    made.push(reply.body.data.id)
  }
  const records = await listed('deal', `filter=id:in(${made.join()})&sort=id:asc`)
  const query = `filter=id:in(${made.join()})&sort=id:asc&fields=title,description,cf_custom_text_field`
  const expected = records.map(({ title, description, cf_custom_text_field: own }) => [
    title,
    description,
    own,
  ])
  // A text may be trimmed when it is saved.
  assert.ok(expected.flat().filter(text => /^[=+\-@\t\r]/.test(String(text))).length >= 5)

  const [, ...rows] = await rowsOf(`deal/export?format=csv&${query}`)
  for (const [, ...cells] of rows) for (const cell of cells) assert.doesNotMatch(cell, /^[=+\-@\t\r]/)
  // A spreadsheet whose lists are separated by semicolons begins a cell at each, within quotation marks, too.
  const text = (await fetched(`deal/export?format=csv&${query}`)).bytes.toString()
  for (const cell of text.split(/[;\t\r\n]/)) assert.doesNotMatch(cell, /^"*[=+\-@]/)
  assert.deepEqual(
    rows.map(([, ...cells]) => cells.map(restored)),
    expected,
  )

  const lines = await linesOf(`deal/export?format=jsonl&${query}`)
  const parsed = lines.map(line => parseJson(line) as JsonObject)
  assert.deepEqual(
    parsed.map(({ title, description, cf_custom_text_field: own }) => [title, description, own]),
    expected,
  )

  const { bytes } = await fetched(`deal/export?format=xlsx&${query}`)
  const cells = cellsOfWorkbook(bytes).slice(1)
  assert.deepEqual(
    cells.map(([, ...row]) => row.map(cell => (cell as { text: string }).text)),
    expected,
  )
})

test('words are no formulas, and stay', async () => {
  const texts = ['a=1; b - c;d', 'Notes:\n- call Ann\n+ two more\n---\n@Bob knows\r\n- x = 1.', "it's;'so"]
  const made: number[] = []
  for (const description of texts) {
    const reply = await call('POST', `${v1}/deal`, dealBody(known, { description }))
    made.push(reply.body.data.id)
  }
  const query = `filter=id:in(${made.join()})&sort=id:asc&fields=description`
  const [, ...rows] = await rowsOf(`deal/export?format=csv&${query}`)
  assert.deepEqual(
    rows.map(([, cell]) => cell),
    texts,
  )
  assert.deepEqual(texts.map(restored), texts)
})

test('numbers are no formulas, and keep their digits', async () => {
  const numbers = ['-12.5', '9999999999999999', '0.1', '-0.999999999999999', '1e-7']
  const made: number[] = []
  for (const number of numbers) {
    const body = JSON.stringify(dealBody(known)).replace(/}$/, `,"cf_custom_number_field":${number}}`)
    made.push((await call('POST', `${v1}/deal`, body)).body.data.id)
  }
  const query = `filter=id:in(${made.join()})&sort=id:asc&fields=cf_custom_number_field`
  const [, ...rows] = await rowsOf(`deal/export?${query}`)
  assert.deepEqual(
    rows.map(([, cell]) => cell),
    [...numbers.slice(0, -1), '0.0000001'],
  )
  const sheet = cellsOfWorkbook((await fetched(`deal/export?format=xlsx&${query}`)).bytes).slice(1)
  // Excel knows fifteen digits: longer numbers stay texts.
  assert.deepEqual(
    sheet.map(([, cell]) => cell && ('number' in cell ? cell.number : cell.text)),
    [-12.5, '9999999999999999', 0.1, -0.999999999999999, 1e-7],
  )
})

test('names take the place of ids', async () => {
  const name = `Semi; "quoted" ${known.owner}`
  const tag = (await call('POST', `${v1}/tag`, { name })).body.data.id
  const deal = await call(
    'POST',
    `${v1}/deal`,
    dealBody(known, {
      tags: [known.tags[0]!, tag],
      source: 'Web',
      deal_value: { currency: 'EUR', value: 12 },
    }),
  )
  const query = `filter=id:eq(${deal.body.data.id})&fields=pipeline,primary_contact,tags,source,deal_value,status&names=1`
  const [header, row] = await rowsOf(`deal/export?${query}`)
  assert.deepEqual(header, [
    'id',
    'pipeline',
    'primary_contact',
    'tags',
    'source',
    'deal_value.value',
    'deal_value.currency',
    'status',
  ])
  const expanded = (
    await get(
      `${v1}/deal/view/list?filter=id:eq(${deal.body.data.id})&expand=pipeline,primary_contact,tags,source,status`,
    )
  ).body.data[0]._expanded
  const { pipeline, primary_contact: contact, tags, source, status } = expanded
  const [{ email_value: email }] = (await get(`${v1}/contact/${contact.id}`)).body.data.emails
  const joined = tags
    .map(({ name }: { name: string }) => (/[;"]/.test(name) ? JSON.stringify(name) : name))
    .join('; ')
  assert.deepEqual(row!.slice(1), [pipeline.name, email, joined, source.name, '12', 'EUR', status.name])
  assert.match(joined, /; "Semi; \\"quoted\\" \d+"/)
  const [line] = await linesOf(`deal/export?format=jsonl&${query}`)
  const read = parseJson(line!) as JsonObject
  assert.deepEqual(
    [read.pipeline, read.primary_contact, read.tags, read.source],
    [pipeline.name, email, tags.map((one: { name: string }) => one.name), 'Web'],
  )
  const [, contactRow] = await rowsOf(`contact/export?filter=emails:notnull(true)&fields=emails&names=1`)
  assert.match(contactRow![1]!, /^[^\s;"]+@[^\s;"]+(; [^\s;"]+@[^\s;"]+)*$/)
})

test('what can not be read is refused, all at once', async () => {
  const reply = await get(
    `${v1}/deal/export?format=pdf&names=yes&fields=titel&sort=nothing:asc&filter=title:is(x)`,
  )
  assert.equal(reply.status, 400)
  assert.deepEqual(reply.body.errors.map((one: { parameter: string }) => one.parameter).sort(), [
    'fields',
    'filter',
    'format',
    'names',
    'sort',
  ])
  assert.match(reply.text, /Did you mean \\"title\\"/)
  for (const query of ['as_of=2026-01-01', 'page=2', 'expand=company', 'deleted=only', 'cursor=x']) {
    const refused = await get(`${v1}/deal/export?${query}`)
    assert.deepEqual([refused.status, refused.body.errors[0].code], [400, 'unknown_parameter'], query)
  }
  assert.deepEqual(problemsOf(await get(`${v1}/deal/export?fields=`)), [' invalid_value'])
})

test('more records than a workbook holds are refused, and told where they fit', async () => {
  // Simulates a sheet that is limited to this number of rows.
  const limit = { recordsMax: 100 }
  const usual = { ...formatOf.xlsx }
  Object.assign(formatOf.xlsx, limit)
  try {
    const reply = await get(`${v1}/deal/export?format=xlsx`)
    assert.deepEqual([reply.status, reply.body.errors[0].code], [400, 'too_many'])
    assert.match(reply.body.detail, /at most 100 records: take format=csv, or filter them/)
    assert.equal((await get(`${v1}/deal/export?format=csv`)).status, 200)
    assert.equal((await get(`${v1}/tag/export?format=xlsx`)).status, 200)
  } finally {
    Object.assign(formatOf.xlsx, usual)
  }
})

test('export is a word of paths, no id', async () => {
  for (const method of ['POST', 'PATCH', 'DELETE']) {
    const reply = await call(method, `${v1}/deal/export`, method === 'DELETE' ? undefined : {})
    assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'GET, HEAD'])
  }
})

test('nobody exports what they do not see', async () => {
  const scopes = ['deal:read', 'contact:read', 'product:read']
  const visibility = { deal: 'own', contact: 'own' }
  const role = (
    await call('POST', `${v1}/role`, {
      name: 'Own',
      scopes,
      visibility,
      hidden_fields: ['deal.deal_value', 'deal.description'],
    })
  ).body.data.id
  const user = (await call('POST', `${v1}/user`, { name: 'Own', email: 'own@example.com', role })).body.data
    .id
  const secret = (await call('POST', `${v1}/token`, { name: 'Own', user, scopes: ['admin'] })).body.data.token
  const own = (
    await call('POST', `${v1}/deal`, dealBody(known, { sales_owner: user, description: 'secret' }))
  ).body.data.id
  const [header, ...rows] = await rowsOf('deal/export?sort=id:asc', secret)
  assert.deepEqual(
    rows.map(([id]) => Number(id)),
    [own],
  )
  for (const hidden of ['deal_value.value', 'description', 'weighted_value.value', 'product_amount.value'])
    assert.ok(!header!.includes(hidden), hidden)
  const [line] = await linesOf('deal/export?format=jsonl', secret)
  const as = { authorization: `Bearer ${secret}` }
  assert.equal(
    line,
    (await call('GET', `${v1}/deal/view/list`, undefined, as)).text
      .slice('{"code":0,"data":['.length)
      .split('],"meta"')[0],
  )
  for (const query of ['fields=deal_value', 'filter=deal_value:gt(1)', 'sort=description:asc']) {
    const refused = await call('GET', `${v1}/deal/export?${query}`, undefined, as)
    assert.equal(refused.status, 400, query)
  }
  // The scope to read the names is missing (D65); records that the caller doesn't see stay ids.
  assert.equal((await call('GET', `${v1}/deal/export?names=1`, undefined, as)).status, 403)
  assert.equal(
    (await call('GET', `${v1}/deal/export?filter=company.name:like(a)`, undefined, as)).status,
    403,
  )
  assert.equal((await call('GET', `${v1}/company/export`, undefined, as)).status, 403)
  const [, row] = await rowsOf('deal/export?names=1&fields=primary_contact', secret)
  assert.equal(row![1], String(known.contact))
})

test('HEAD answers the headers alone, and refuses what GET refuses', async () => {
  const head = (query: string) =>
    fetch(`${url}${v1}/deal/export?${query}`, {
      ...{ method: 'HEAD', headers: { authorization: `Bearer ${token}` } },
    })
  // Neither of the account's two permits is taken.
  const replies = await Promise.all([1, 2, 3].map(() => head('format=xlsx')))
  for (const { status, headers } of replies) {
    assert.deepEqual([status, headers.get('content-type')], [200, formatOf.xlsx.mediaType])
    assert.match(headers.get('content-disposition')!, /deals-.*\.xlsx/)
    assert.equal(headers.get('content-length'), null)
  }
  assert.equal((await head('format=pdf')).status, 400)
})

test('a name of digits alone is given as its id, by which an import finds it again', async () => {
  const other = (await call('POST', `${v1}/tag`, { name: `Other ${Date.now()}` })).body.data.id
  const tag = (await call('POST', `${v1}/tag`, { name: String(other) })).body.data.id
  const made = await call('POST', `${v1}/deal`, dealBody(known, { tags: [tag] }))
  assert.equal(made.status, 201, made.text)
  const [, row] = await rowsOf(`deal/export?filter=id:eq(${made.body.data.id})&fields=tags&names=1`)
  assert.equal(row!.at(-1), String(tag))
})

test('options with digits as names come back as they are, in each format', async () => {
  const body = { source: 'deal', field_name: 'Year', type: 'DROPDOWN', options: ['2024', 'Next', 'Last'] }
  const field = await made('field', body)
  const [year, next, last] = field.options.map(({ id }: { id: number }) => id)
  const several = await made('field', { ...body, field_name: 'Years', type: 'MULTISELECT' })
  const [many, more] = several.options.map(({ id }: { id: number }) => id)
  const swapped = [
    [field, next, last],
    [several, more, many],
  ]
  for (const [{ id }, option, as] of swapped)
    assert.equal(
      (await call('PATCH', `${v1}/field/${id}/option/${option}`, { name: String(as) })).status,
      200,
    )
  const ids: number[] = []
  for (const option of [year, next, last])
    ids.push((await made('deal', dealBody(known, { cf_year: option, cf_years: [more, many] }))).id)
  const query = `filter=id:in(${ids})&sort=id:asc&fields=title,cf_year,cf_years`
  const [, ...rows] = await rowsOf(`deal/export?${query}&names=1`)
  assert.deepEqual(
    rows.map(row => row.at(-2)),
    ['2024', String(next), 'Last'],
  )
  for (const format of ['csv', 'jsonl', 'xlsx'] as const)
    for (const named of ['', '&names=1']) {
      const { bytes } = await fetched(`deal/export?filter=id:in(${ids})&sort=id:asc&format=${format}${named}`)
      const { body } = await upload('deal', bytes, '', formatOf[format].mediaType, format)
      await call('PATCH', `${v1}/import/${body.data.id}`, { confirm: true })
      const { created, problems } = await run(body.data.id, 'run')
      assert.equal(created, 3, `${format}${named} ${JSON.stringify(problems)}`)
      const { data } = (await get(`${v1}/deal/view/list?sort=id:desc&pageSize=3&fields=cf_year,cf_years`))
        .body
      assert.deepEqual(
        data.map(({ cf_year, cf_years }: JsonObject) => [cf_year, cf_years]),
        [last, next, year].map(option => [option, [more, many]]),
        `${format}${named}`,
      )
    }
})

test('a phone number with an extension behind a comma comes back as one number', async () => {
  const phones = [
    { phone_type: 1, phone_number: '+1 555 0100,12345' },
    { phone_type: 1, phone_number: '+49 30 12345 / 678900' },
  ]
  const { id } = await made('contact', { last_name: 'Extension', phones })
  const { bytes } = await fetched(`contact/export?filter=id:eq(${id})&fields=last_name,phones&names=1`)
  const { body } = await upload('contact', bytes)
  await call('PATCH', `${v1}/import/${body.data.id}`, { confirm: true })
  assert.equal((await run(body.data.id, 'run')).created, 1)
  const { data } = (await get(`${v1}/contact/view/list?sort=id:desc&pageSize=1`)).body
  assert.deepEqual(
    data[0].phones.map(({ phone_number }: JsonObject) => phone_number),
    phones.map(({ phone_number }) => phone_number),
  )
})
