/**
 * Requests of the maximum size, each of which once blocked its thread for long, or might: the worst case of
 * every parser. Data only; event-loop.test.ts sends them.
 */
import type { Known } from '../support/service.ts'

export type HostileRequest = {
  readonly method: string
  readonly path: string
  readonly headers?: { readonly [name: string]: string }
  /** JSON text, or invalid JSON */
  readonly body?: string
}

type Named = { readonly [name: string]: HostileRequest }

const v1 = '/rest/api/v1'
/** Characters that fit into a body of a megabyte beside the rest. */
const room = 1_046_000
/** Members and items that fit into a body beside the rest. */
const most = 32_000
/** Characters that fit into the parameters of a list. */
const listRoom = 130_000
/** Characters that fit into an address. */
const addressRoom = 14_000

const long = 'a'.repeat(room)
const marks = `a${'\u0315'.repeat(room / 4)}${'\u0316'.repeat(room / 4)}`

/** All of them, for a service with the sample data and its deal `deal`. They save only a few records. */
export function hostileRequests(known: Known, deal: number): Named {
  return {
    ...names(known),
    ...json(),
    ...records(known, deal),
    ...lists(),
    ...addresses(deal),
    ...administration(),
  }
}

/** `one` as often as it fits into `bytes`, at most `count` times, separated by commas. */
function many(one: (index: number) => string, count = most, bytes = room): string {
  const parts: string[] = []
  for (let size = 0; parts.length < count; ) {
    const part = one(parts.length)
    size += Buffer.byteLength(part) + 1
    if (size > bytes) break
    parts.push(part)
  }
  return parts.join(',')
}

/** Unknown members like `name`, as many as a body may have, or a part of them. */
function unknown(name: string, part = 1): string {
  return many(index => `"${name}${index}":1`, most / part - 5, room / part - 50)
}

function times(count: number, one: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => one(index)).join(',')
}

function post(path: string, body: string): HostileRequest {
  return { method: 'POST', path: `${v1}/${path}`, body }
}

/** Creates a deal with its required members, and `members`. */
function deals({ pipeline, stages, contact, owner }: Known): (members: string) => HostileRequest {
  const needed = {
    title: 'Hostile',
    pipeline,
    pipeline_stage: stages.New!,
    primary_contact: contact,
    sales_owner: owner,
  }
  return members => post('deal', `${JSON.stringify(needed).slice(0, -1)},${members}}`)
}

/** Texts as names: ordering combining marks takes quadratic time. */
function names(known: Known): Named {
  const create = deals(known)
  const text = JSON.stringify(marks)
  const spelt = (index: number) => `"${index}${'\u0315'.repeat(120)}${'\u0316'.repeat(120)}"`
  const mail = `{"email_type":${text},"email_value":"a@example.com"}`
  return {
    'marks as an option': create(`"source":${text}`),
    'marks as a currency': create(`"deal_value":{"currency":${text},"value":1}`),
    'marks as a type of e-mail': create(`"cf_custom_email_field":[${mail}]`),
    'marks as many options': create(`"cf_custom_multiselect_field":[${many(spelt)}]`),
    'marks in a filter': post(
      'deal/view/list',
      `{"filter":${JSON.stringify(`source:eq(${marks.slice(0, listRoom)})`)}}`,
    ),
    'marks as the name of a field': post('field', `{"source":"deal","type":"DROPDOWN","field_name":${text}}`),
    'marks as options of a field': post(
      'field',
      `{"source":"deal","type":"DROPDOWN","field_name":"Marks","options":[${times(100, () => text.slice(0, 200) + text.slice(-55))}]}`,
    ),
    'marks as a tag': post('tag', `{"name":${text}}`),
    'one option of a megabyte': create(`"source":"${long}"`),
    'one currency of a megabyte': create(`"deal_value":{"currency":"${long}","value":1}`),
  }
}

/** JSON itself. */
function json(): Named {
  const body = (text: string) => post('deal', text)
  const array = (one: string) => body(`[${many(() => one)}]`)
  return {
    'more items than are taken': body(`[${many(() => '0', room)}]`),
    'arrays within arrays': body('['.repeat(room)),
    'empty arrays': array('[]'),
    'empty objects': array('{}'),
    'numbers with exponents': array('1e9'),
    'numbers that no double can hold': array('1e999'),
    'numbers of many digits': array('0.12345678901234567890'),
    'numbers of many digits, with a key': {
      ...array('0.12345678901234567890'),
      headers: { 'idempotency-key': 'numbers' },
    },
    'a number of a megabyte': body(`{"product_quantity":${'1'.repeat(room)}}`),
    'a fraction of a megabyte': body(`{"cf_custom_number_field":0.${'0'.repeat(room)}}`),
    'an exponent of a megabyte': body(`{"cf_custom_number_field":1e${'0'.repeat(room)}1}`),
    escapes: body(`{"title":"${'\\u00e9'.repeat(room / 6)}"}`),
    backslashes: body(`{"title":"${'\\\\'.repeat(room / 2 - 10)}"}`),
    'halves of surrogate pairs': body(`{"title":"${'\\ud800'.repeat(room / 6)}"}`),
    'a text without an end': body(`{"title":"${long}`),
    blanks: body(' '.repeat(room)),
  }
}

function records(known: Known, deal: number): Named {
  const create = deals(known)
  const product = (prices: string) => post('product', `{"name":"Hostile","unit_price":[${prices}]}`)
  const contacts = (count: number, one: (index: number) => string) =>
    create(`"related_contacts":[${times(count, index => `{"last_name":"x",${one(index)}}`)}]`)
  const update = (body: string, headers: { [name: string]: string } = {}): HostileRequest => ({
    method: 'PATCH',
    path: `${v1}/deal/${deal}`,
    body,
    headers,
  })
  const member = (name: string, value: string) => create(`"${name}":"${value}"`)
  const mails = (one: (index: number) => string) =>
    contacts(150, n => `"emails":[${times(20, index => one(n * 20 + index))}]`)
  return {
    'unknown members': create(unknown('unknown_')),
    'unknown members like known ones': create(unknown('expected_close_dat')),
    'unknown members with escapes': create(many(index => `"\\u0061${index}":1`)),
    'one unknown member of a megabyte': create(`"${long}":1`),
    'unknown members of an amount': create(`"cf_custom_monetory_field":{${unknown('currenc')}}`),
    'unknown members of two hundred lines': create(
      `"deal_value":{"currency":"USD","products":[${times(200, () => `{"product":1,${unknown('quantit', 200)}}`)}]}`,
    ),
    'unknown members of two hundred contacts': contacts(200, () => unknown('first_nam', 210)),
    'unknown members of one contact': contacts(1, () => unknown('x')),
    'unknown members of the company of a contact': create(
      `"related_contacts":[{"last_name":"x","company":{${unknown('nam')}}}]`,
    ),
    'unknown currencies': product(many(index => `{"currency":"US${index}","unit_price":1}`, most / 3)),
    'prices of nothing': product(many(() => '{}')),
    'prices that are none': product(many(() => '0')),
    'prices in one currency': product(many(() => '{"currency":840,"unit_price":1}', most / 3)),
    'prices of many digits': product(times(150, () => `{"currency":840,"unit_price":"${'9'.repeat(99)}"}`)),
    'one unknown option, over and over': create(
      `"cf_custom_multiselect_field":[${many(() => '"Trainign"')}]`,
    ),
    'a hundred unknown options, over and over': create(
      `"cf_custom_multiselect_field":[${many(index => `"Trainin ${index % 100}"`)}]`,
    ),
    'one option, over and over': create(`"cf_custom_multiselect_field":[${many(() => '"Training"')}]`),
    'very many tags': create(`"tags":[${many(index => String(index + 1))}]`),
    'very many lines': create(
      `"deal_value":{"currency":"USD","products":[${many(() => '{"product":1,"quantity":1}', most / 3)}]}`,
    ),
    'lines of digits': create(
      `"deal_value":{"currency":"USD","products":[${times(200, () => `{"product":1,"quantity":${'9'.repeat(5000)}}`)}]}`,
    ),
    'very many contacts': contacts(most / 3, index => `"first_name":"${index}"`),
    'two hundred contacts': contacts(200, index => `"first_name":"${index}","company":{"name":"c${index}"}`),
    'e-mails of unknown types': mails(
      index => `{"email_type":"${index}${'x'.repeat(250)}","email_value":"a@example.com"}`,
    ),
    'e-mails that are none': mails(() => `{"email_type":1,"email_value":"a@${'a-'.repeat(140)}"}`),
    'an e-mail of a megabyte': create(
      `"cf_custom_email_field":[{"email_type":1,"email_value":"a@${'a-'.repeat(room / 2 - 50)}"}]`,
    ),
    'phones that are none': contacts(
      150,
      () => `"phones":[${times(20, () => `{"phone_type":1,"phone_number":"${'+'.repeat(250)}"}`)}]`,
    ),
    'metadata of one text': create(`"metadata":{"a":"${long}"}`),
    'metadata of members': create(`"metadata":{${unknown('m')}}`),
    'metadata of large numbers': create(`"metadata":{"a":[${many(() => '1e400')}]}`),
    'metadata of huge exponents': create(`"metadata":{"a":[${many(() => '1e9999')}]}`),
    'metadata of sixty contacts': contacts(
      60,
      index => `"metadata":{"n":${index},"a":[${many(() => '1e90', 500)}]}`,
    ),
    'a text of other letters': member('cf_custom_large_txt_field', '\u{1F600}'.repeat(room / 4)),
    'a text of halves': member('description', '\\ud83d'.repeat(room / 6)),
    'a date of blanks': member('expected_close_date', `${' '.repeat(room)}x`),
    'a date of digits': member('expected_close_date', '1'.repeat(room)),
    'a time of digits': member('cf_custom_time_field', `10:00:${'1'.repeat(room)}`),
    'a time range of slashes': member('cf_custom_time_range_field', '/'.repeat(room)),
    'an amount of digits': create(`"deal_value":{"currency":"USD","value":"${'1'.repeat(room)}"}`),
    'unknown members of an update': update(`{${unknown('unknown_')}}`),
    'unknown members of an update, with a key': update(`{${unknown('unknown_')}}`, {
      'idempotency-key': 'update',
    }),
    'unknown members of who asks': { method: 'PATCH', path: `${v1}/me`, body: `{${unknown('local')}}` },
    'an update of another version': update(`{"description":"${long}"}`, { 'if-match': '"77"' }),
    'a user with a long e-mail': post('user', `{"name":"x","email":"${'a'.repeat(room)}@"}`),
  }
}

function lists(): Named {
  const list = (parameters: string) => post('deal/view/list', `{${parameters}}`)
  const filter = (text: string) => list(`"filter":${JSON.stringify(text)}`)
  const values = (field: string, one: (index: number) => string) =>
    filter(`${field}:in(${many(one, 5000, listRoom)})`)
  const parameter = (name: string, one: (index: number) => string) =>
    list(`"${name}":"${many(one, most, listRoom)}"`)
  const cursor = Buffer.from(`{"list":"x","after":[${many(() => '1e9', most, 90_000)}]}`).toString(
    'base64url',
  )
  return {
    'many spellings of a foreign parameter': list(
      Array.from({ length: 20 }, (_, index) => {
        const word = `${'properties'.slice(0, (index % 9) + 1)}-${'-'.repeat(index)}${'properties'.slice((index % 9) + 1)}`
        return `"${word}":"${many(() => 'a', 500, 999)}"`
      }).join(),
    ),
    'very many filters': list(`"filter":[${many(() => '"id:gt(1)"')}]`),
    'a hundred filters of unknown operators': list(
      `"filter":[${times(100, () => `"id:${'bewteen'.repeat(9)}(1)"`)}]`,
    ),
    'a filter of a megabyte': filter(`title:eq(${long.slice(100)})`),
    conditions: filter(many(index => `id:gt(${index})`, most, listRoom)),
    groups: filter('or('.repeat(listRoom / 3)),
    parentheses: filter(`title:eq(${'('.repeat(listRoom / 2 - 20)}${')'.repeat(listRoom / 2 - 20)}`),
    spaces: filter(' '.repeat(listRoom)),
    'unknown options': values('source', index => `Emai${index}`),
    'unknown options in many conditions': filter(
      times(40, () => `source:in(${many(index => `Emai${index}`, 400)})`),
    ),
    'unknown currencies in a filter': values('deal_value.currency', index => `US${index}`),
    'one option, over and over, in a filter': values('source', () => 'Web'),
    'one stage, over and over, in a filter': values('pipeline_stage', () => 'Won'),
    'numbers of many digits in a filter': values('deal_value.value', index => `${'9'.repeat(20)}${index}`),
    'dates that are none': values('created_at', index => `${index}x`),
    'texts in quotes': values('title', index => `"${index}\\"\\\\"`),
    'a pattern': filter(`title:like(${'a'.repeat(listRoom)})`),
    'sorts by unknown fields': parameter('sort', index => `a${index}:asc`),
    'sorts of a megabyte': list(`"sort":"${many(index => `a${index}:asc`, room)}"`),
    'one sort, over and over': parameter('sort', () => 'pipeline_stage:asc'),
    'unknown fields': parameter('fields', index => `titl${index}`),
    'unknown fields of one letter': parameter('fields', index => index.toString(36)),
    'fields of a megabyte': list(`"fields":[${many(index => `"titl${index}"`)}]`),
    'fields to expand that are unknown': parameter('expand', index => `sourc${index}`),
    'unknown parameters': list(unknown('filte')),
    'a cursor': list(`"cursor":"${'A'.repeat(listRoom)}"`),
    'a cursor of numbers': list(`"cursor":"${cursor}"`),
    'a page of numbers': list(`"page":[${many(() => '1')}]`),
  }
}

/** Addresses and headers, as long as HTTP takes them. */
function addresses(deal: number): Named {
  const get = (path: string, headers: { [name: string]: string } = {}): HostileRequest => ({
    method: 'GET',
    path,
    headers,
  })
  const repeated = (one: (index: number) => string) => many(one, most, addressRoom).replaceAll(',', '&')
  return {
    'parameters in the address': get(`${v1}/deal/view/list?${repeated(index => `p${index}`)}`),
    'filters in the address': get(`${v1}/deal/view/list?${repeated(() => 'filter=id:gt(1)')}`),
    'fields in the address': get(
      `${v1}/deal/view/list?fields=${many(index => `titl${index}`, most, addressRoom)}`,
    ),
    'expand of one record': get(
      `${v1}/deal/${deal}?expand=${many(index => `sourc${index}`, most, addressRoom)}`,
    ),
    'parameters of the field list': get(`${v1}/field/list?${repeated(index => `p${index}`)}`),
    'the name of a dropdown': get(`${v1}/field/dropdown?name=${'a'.repeat(addressRoom)}`),
    'percent signs': get(`${v1}/deal/view/list?filter=${'%'.repeat(addressRoom)}`),
    'a path': get(`${v1}/${'a/'.repeat(addressRoom / 2)}`),
    'a version': {
      ...get(`${v1}/deal/${deal}`),
      method: 'PATCH',
      body: '{}',
      headers: { 'if-match': `"${'1'.repeat(addressRoom)}"` },
    },
    'a key': {
      ...get(`${v1}/deal/${deal}`),
      method: 'PATCH',
      body: '{}',
      headers: { 'idempotency-key': 'k'.repeat(addressRoom) },
    },
    'an accept header': get(`${v1}/deal/${deal}`, { accept: `application/${'a.'.repeat(addressRoom / 2)}` }),
    'a content type': {
      ...post('deal', '{}'),
      headers: { 'content-type': `application/json${'; '.repeat(addressRoom / 2)}x` },
    },
    'a token': get(`${v1}/deal/${deal}`, { authorization: `Bearer ${' '.repeat(addressRoom)}x y` }),
    'a request id': get(`${v1}/deal/${deal}`, { 'x-request-id': 'i'.repeat(addressRoom) }),
  }
}

function administration(): Named {
  const field = (members: string) =>
    post('field', `{"source":"deal","field_name":"Hostile","type":"DROPDOWN",${members}}`)
  const form = (sections: string): HostileRequest => ({
    ...post('field/form?source=deal', `[${sections}]`),
    method: 'PUT',
  })
  return {
    'a form of unknown fields': form(`{"section":"S","fields":[${many(index => `"x${index}"`)}]}`),
    'a form of one field, over and over': form(`{"section":"S","fields":[${many(() => '"title"')}]}`),
    'a form of sections': form(many(index => `{"section":"${index}","fields":[]}`, most / 3)),
    'a form of nothing': form(many(() => '{}')),
    'a form of unknown members': form(`{"section":"S","fields":[],${unknown('x')}}`),
    'unknown members of a field': field(unknown('is_require')),
    'limits of a field': field(`"config":{${unknown('max_lengt')}}`),
    'very many options': field(`"options":[${many(index => `"o${index}"`)}]`),
    'a hundred options with unknown members': field(
      `"options":[${times(100, index => `{"name":"o${index}",${unknown('nam', 110)}}`)}]`,
    ),
    'a default of unknown options': post(
      'field',
      `{"source":"deal","field_name":"Hostile","type":"MULTISELECT","options":["Aaaa"],"default_value":[${many(() => '"Aaab"')}]}`,
    ),
    'a default of members': post(
      'field',
      `{"source":"deal","field_name":"Hostile","type":"MONETARY","default_value":{${unknown('currenc')}}}`,
    ),
    'a field with a long name': field(`"field_name2":"${long}"`),
    'a field of an unknown type': post('field', `{"source":"deal","field_name":"Hostile","type":"${long}"}`),
  }
}
