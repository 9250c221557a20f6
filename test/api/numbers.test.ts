/**
 * Numbers end to end (D14): every digit from the request through the database and the filter to the answer's
 * raw text.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimal, plain } from '../../src/fields/decimal.ts'
import { dealBody, problemsOf, startService, v1 } from '../support/service.ts'

const { call, db, get, known } = await startService()
const product = (members: string) => call('POST', `${v1}/product`, `{"name":"A product",${members}}`)
/** `members` as JSON text, since JavaScript's numbers would not hold them. */
const deal = (members: string, { pipeline_stage, ...body } = dealBody(known)) =>
  call(
    'POST',
    `${v1}/deal`,
    `${JSON.stringify(members.includes('"pipeline_stage"') ? body : { ...body, pipeline_stage }).slice(0, -1)},${members}}`,
  )
const found = async (resource: string, filter: string): Promise<number[]> => {
  const reply = await get(
    `${v1}/${resource}/view/list?pageSize=500&fields=id&filter=${encodeURIComponent(filter)}`,
  )
  assert.equal(reply.status, 200, `${filter}: ${reply.text}`)
  return reply.body.data.map((record: { id: number }) => record.id)
}

test('quantities: text in, the same digits out, in every answer', async () => {
  for (const [sent, answered = sent] of [
    ['0'],
    ['-0', '0'],
    ['9007199254740991'],
    ['9007199254740992'],
    ['9007199254740993'],
    ['9999999999999998'],
    ['9999999999999999'],
    ['9999999999999999.0', '9999999999999999'],
    ['1e3', '1000'],
    ['1.50', '1.5'],
    ['0.1'],
    ['999999999999999.25'],
  ] as const) {
    const created = await product(`"quantity_in_stock":${sent}`)
    assert.equal(created.status, 201, created.text)
    const { id } = created.body.data
    const member = `"quantity_in_stock":${answered},`
    const listed = await get(`${v1}/product/view/list?filter=id:eq(${id})`)
    const narrowed = await get(`${v1}/product/view/list?filter=id:eq(${id})&fields=quantity_in_stock,name`)
    for (const { text } of [created, await get(`${v1}/product/${id}`), listed, narrowed])
      assert.ok(text.includes(member), `${sent}: ${text}`)
    // Writing back the record changes nothing.
    const again = await call('PUT', `${v1}/product/${id}`, JSON.stringify(created.body.data))
    assert.equal(again.body.data.version, 1, sent)
    assert.ok(again.text.includes(member), again.text)
  }
})

test('out of range by one in the last of sixteen digits', async () => {
  for (const sent of ['10000000000000000', '9999999999999999.1', '1e16', '-1', '-0.01', '1e99'])
    assert.deepEqual(
      problemsOf(await product(`"quantity_ordered":${sent}`)),
      ['/quantity_ordered out_of_range'],
      sent,
    )
  for (const sent of ['"5"', 'true', '[1]', '{}', '1e400'])
    assert.deepEqual(
      problemsOf(await product(`"quantity_ordered":${sent}`)),
      ['/quantity_ordered wrong_type'],
      sent,
    )
})

test('filters compare the last of sixteen digits', async () => {
  const ids: { [digits: string]: number } = {}
  for (const digits of ['9007199254740992', '9007199254740993', '9999999999999998', '9999999999999999'])
    ids[digits] = (await product(`"quantity_ordered":${digits}`)).body.data.id
  const among = async (filter: string) => (await found('product', filter)).sort((one, other) => one - other)
  const of = (...digits: string[]) => digits.map(each => ids[each]!)
  const field = 'quantity_ordered'
  assert.deepEqual(await among(`${field}:eq(9007199254740993)`), of('9007199254740993'))
  assert.deepEqual(
    await among(`${field}:in(9007199254740993,9999999999999998)`),
    of('9007199254740993', '9999999999999998'),
  )
  assert.deepEqual(
    await among(`${field}:gt(9007199254740992)`),
    of('9007199254740993', '9999999999999998', '9999999999999999'),
  )
  assert.deepEqual(await among(`${field}:gte(9999999999999999)`), of('9999999999999999'))
  assert.deepEqual(
    await among(`${field}:between(9007199254740993,9999999999999998)`),
    of('9007199254740993', '9999999999999998'),
  )
  assert.deepEqual(
    await among(`${field}:gt(9007199254740991),${field}:nin(9999999999999999,9007199254740993)`),
    of('9007199254740992', '9999999999999998'),
  )
  const sorted = await get(`${v1}/product/view/list?pageSize=4&fields=id&sort=${field}:desc`)
  assert.deepEqual(
    sorted.body.data.map((record: { id: number }) => record.id),
    of('9999999999999999', '9999999999999998', '9007199254740993', '9007199254740992'),
  )
})

test('between is refused backwards to the last digit', async () => {
  for (const pair of [
    '9999999999999999,9999999999999998',
    '9007199254740993,9007199254740992',
    '0.30000000000000001,0.3',
  ]) {
    const reply = await get(`${v1}/product/view/list?filter=quantity_in_stock:between(${pair})`)
    assert.equal(reply.status, 400, `${pair}: ${reply.text}`)
  }
})

test('operands: signs and exponents are numbers, the rest is refused by name; nothing is a fault', async () => {
  for (const [operand, status] of [
    ['+5', 200],
    ['-5', 200],
    ['5e2', 200],
    [' 5 ', 200],
    ['.5', 200],
    ['1e99', 200],
    ['1e-99', 200],
    ['1e100', 400],
    ['5,5', 400],
    ['five', 400],
    ['NaN', 400],
    ['Infinity', 400],
    ['0x10', 400],
    ['', 400],
    ['9'.repeat(101), 400],
  ] as const) {
    for (const path of [
      'product/view/list?filter=quantity_in_stock',
      'deal/view/list?filter=cf_custom_number_field',
    ]) {
      const reply = await get(`${v1}/${path}:eq(${encodeURIComponent(operand)})`)
      assert.equal(reply.status, status, `${path} ${operand}: ${reply.text}`)
    }
  }
})

test("an amount has its currency's decimals, a price four, never more and never rounded", async () => {
  for (const [currency, good, bad] of [
    ['JPY', ['0', '7400', '7400.0', '"7400"', '9999999999999'], ['0.5', '"7400.1"', '7400.01']],
    ['USD', ['0.01', '"0.10"', '9999999999999', '9999999999998.99'], ['0.001', '"1.005"', '1e-3']],
    ['KWD', ['0.001', '"12.345"', '9999999999998.999'], ['0.0001', '"12.3455"']],
  ] as const) {
    for (const value of good) {
      const answered = plain(decimal(value.replaceAll('"', ''))!)
      const price = await product(`"unit_price":[{"currency":"${currency}","unit_price":${value}}]`)
      assert.equal(price.status, 201, `${currency} ${value}: ${price.text}`)
      assert.ok(price.text.includes(`"price":${answered},`), price.text)
      const amount = await deal(`"deal_value":{"currency":"${currency}","value":${value}}`)
      assert.equal(amount.status, 201, `${currency} ${value}: ${amount.text}`)
      assert.ok(amount.text.includes(`"currency_code":"${currency}","value":${answered},`), amount.text)
    }
    for (const value of bad) {
      assert.deepEqual(
        problemsOf(await deal(`"deal_value":{"currency":"${currency}","value":${value}}`)),
        ['/deal_value/value too_many_decimals'],
        `${currency} ${value}`,
      )
    }
    for (const [value, status] of [
      ['0.0125', 201],
      ['"9999999999998.9999"', 201],
      ['0.00125', 422],
    ] as const) {
      const price = await product(`"unit_price":[{"currency":"${currency}","unit_price":${value}}]`)
      assert.equal(price.status, status, price.text)
      if (status === 422) assert.deepEqual(problemsOf(price), ['/unit_price/0/unit_price too_many_decimals'])
      else assert.ok(price.text.includes(`"price":${value.replaceAll('"', '')},`), price.text)
    }
  }
})

test('amounts that a double can not add or multiply', async () => {
  const stage = (name: string) => `"pipeline_stage":${known.stages[name]}`
  // 10, 30 and 50 percent, rounded half-even at the currency's decimals.
  for (const [currency, value, stageName, weighted] of [
    ['USD', '0.15', 'New', '0.02'],
    ['USD', '0.25', 'New', '0.02'],
    ['USD', '0.35', 'New', '0.04'],
    ['USD', '9999999999999', 'Qualified', '2999999999999.7'],
    ['USD', '9999999999998.99', 'Proposal', '4999999999999.5'],
    ['JPY', '5', 'Proposal', '2'],
    ['JPY', '7', 'Proposal', '4'],
    ['KWD', '0.005', 'New', '0'],
    ['KWD', '0.015', 'New', '0.002'],
  ] as const) {
    const reply = await deal(`"deal_value":{"currency":"${currency}","value":${value}},${stage(stageName)}`)
    assert.equal(reply.status, 201, reply.text)
    assert.match(
      reply.text,
      new RegExp(`"weighted_value":\\{[^}]*"value":${weighted.replace('.', '\\.')}\\}`),
      `${value}`,
    )
  }
})

test('a number in any of its spellings is the same number, whatever stands beside it', async () => {
  const big = '"cf_custom_number_field":1234567890123456'
  for (const beside of ['"description":"x"', big]) {
    const reply = await deal(
      `${beside},"cf_custom_owner_field":${known.owner}.0,"source":1.001e3,"territory":${known.territory}e0`,
    )
    assert.equal(reply.status, 201, `${beside}: ${reply.text}`)
    assert.deepEqual([reply.body.data.cf_custom_owner_field, reply.body.data.source], [known.owner, 1001])
  }
})

test('a custom number has at most sixteen digits, before and after the point together', async () => {
  for (const value of ['9999999999999999', '-9999999999999999', '0.123456789012345', '12345678.12345678'])
    assert.ok(
      (await deal(`"cf_custom_number_field":${value}`)).text.includes(`"cf_custom_number_field":${value}`),
      value,
    )
  for (const value of ['10000000000000000', '-12345678901234567', '0.1234567890123456', '1e16', '1e-16'])
    assert.deepEqual(
      problemsOf(await deal(`"cf_custom_number_field":${value}`)),
      ['/cf_custom_number_field too_long'],
      value,
    )
})

test('a custom amount is digits and a point: no sign, exponent or space', async () => {
  const money = (value: string) => deal(`"cf_custom_monetory_field":{"currency":"USD","value":"${value}"}`)
  assert.equal((await money('12.50')).status, 201)
  for (const value of ['+12', '-12', '1e3', '1,000', '12 USD', '']) {
    const reply = await money(value)
    assert.equal(reply.status, 422, `${value}: ${reply.text.slice(0, 200)}`)
  }
})

test('metadata keeps its numbers, or refuses what can not be kept', async () => {
  for (const numbers of [
    '{"a":0.1234567890123456789,"b":1e400,"c":-12345678901234567890}',
    `{"a":1e499,"b":1e-498,"c":-1E+498,"d":${'9'.repeat(500)},"e":0.${'0'.repeat(497)}1}`,
  ]) {
    const kept = await deal(`"metadata":${numbers}`)
    assert.equal(kept.status, 201, kept.text)
    assert.ok(kept.text.includes(`"metadata":${numbers}`), kept.text)
  }
  const [{ count: before }] = (await db.query('SELECT count(*)::text FROM deal')) as [{ count: string }]
  const tooLong = [
    '1e500',
    '1e9999',
    '-1E+999',
    '1e-499',
    '1e-9999',
    '1e999999999999999999999',
    '1e-999999999999999999999',
  ]
  for (const number of [
    ...tooLong,
    '9'.repeat(501),
    `-0.${'0'.repeat(497)}1`,
    `1.${'0'.repeat(300)}1e-300`,
  ]) {
    for (const [metadata, path] of [
      [`{"a":${number}}`, '/a'],
      [`{"a":[1,{"b/c":${number}}]}`, '/a/1/b~1c'],
    ]) {
      const reply = await deal(`"metadata":${metadata}`)
      assert.deepEqual(problemsOf(reply), [`/metadata${path} too_long`], number)
    }
  }
  for (const zero of ['0e9999', '0e-9999', '-0.0e-999', `0.${'0'.repeat(600)}`]) {
    const reply = await deal(`"metadata":{"a":${zero}}`)
    assert.ok(reply.text.includes('"metadata":{"a":0}'), reply.text)
  }
  const [{ count: after }] = (await db.query('SELECT count(*)::text FROM deal')) as [{ count: string }]
  assert.equal(Number(after) - Number(before), 4)
})

test('metadata is as large for the database as it is bounded, whatever its numbers are', async () => {
  for (const number of ['1e300', '1e-300', '1.5E+300', '5e-324']) {
    const metadata = (count: number) => `"metadata":{"a":[${Array(count).fill(number).join()}]}`
    assert.deepEqual(problemsOf(await deal(metadata(60))), ['/metadata too_long'], number)
    assert.equal((await deal(metadata(45))).status, 201, number)
  }
  const [row] = await db.query('SELECT max(octet_length(metadata::text))::text AS most FROM deal')
  // Plus a blank after each comma and colon.
  assert.ok(Number(row!.most) < 1.5 * 16_384, row!.most!)
})

test('longer numbers of old are read, written back and changed', async () => {
  const { id } = (await deal('"metadata":{}')).body.data
  const old = '{"a":[1e9999,1e-9999]}'
  await db.query(
    `UPDATE deal SET metadata = $1::jsonb, document = replace(document, '"metadata":{}', $2) WHERE id = $3::bigint`,
    [old, `"metadata":${old}`, String(id)],
  )
  const read = await get(`${v1}/deal/${id}`)
  assert.ok(read.text.includes(`"metadata":${old}`), read.text)
  const { data } = read.body
  assert.equal((await call('PUT', `${v1}/deal/${id}`, data)).body.data?.version, 1)
  const changed = await call('PUT', `${v1}/deal/${id}`, { ...data, title: 'Another title' })
  assert.ok(changed.status === 200 && changed.text.includes(`"metadata":${old}`), changed.text)
  const other = await call('PATCH', `${v1}/deal/${id}`, '{"metadata":{"a":[1e9999,1e-9999],"b":1}}')
  assert.deepEqual(problemsOf(other), ['/metadata/a/0 too_long', '/metadata/a/1 too_long'])
  assert.equal((await call('PATCH', `${v1}/deal/${id}`, { metadata: { a: 1 } })).status, 200)
})

test('where a text or an id is meant, a number beyond a double is refused, and so is any object', async () => {
  const upsert = (by: string) => `{"operations":[{"op":"update",${by},"data":{"title":"x"}}]}`
  for (const value of ['9007199254740993', '{"toString":1}', '[{"toString":1}]'])
    for (const [method, path, body] of [
      ['POST', 'field', `{"source":"deal","field_name":"A","type":${value}}`],
      ['PUT', 'field/form?source=deal', `[{"section":"All","fields":[${value}]}]`],
      ['PATCH', 'account', `{"base_currency":${value}}`],
      ['POST', 'deal/batch', upsert(`"id":1,"if_match":${value}`)],
      ['POST', 'deal', `{"title":"x","company":{"name":"x","find_by":${value}}}`],
      ['POST', 'view', `{"name":"x","source":"deal","mode":"Board","pipeline":${value}}`],
    ] as const) {
      const reply = await call(method, `${v1}/${path}`, body)
      assert.equal(reply.status, 422, `${path} ${value}: ${reply.text}`)
    }
  for (const filter of [
    '{"status":{"_eq":{"toString":1}}}',
    '{"status":[{"toString":1}]}',
    '{"propertyName":"status","operator":{"toString":1},"value":1}',
  ]) {
    const reply = await get(`${v1}/deal/view/list?filter=${encodeURIComponent(filter)}`)
    assert.equal(reply.status, 400, reply.text)
  }
  const big = encodeURIComponent('{"id":{"_eq":9007199254740993}}')
  const { body } = await get(`${v1}/deal/view/list?filter=${big}`)
  assert.equal(body.errors[0].hint, 'Write filter=id:eq(9007199254740993).')
})

test('an id beyond every id is a record that is not there', async () => {
  for (const id of ['9007199254740993', '99999999999999999999'])
    assert.deepEqual(
      problemsOf(await deal(`"cf_custom_owner_field":${id}`)),
      ['/cf_custom_owner_field reference_not_found'],
      id,
    )
})
