/** Invisible characters, and malformed addresses: refused where they would mislead. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, startService, v1 } from '../support/service.ts'

const { call, known, get } = await startService()
const unseen = ['\u200b', '\u2060\ufeff', '\u00ad', '\u3164', '\u2800', '\u202e', '\u0007', ' \u200d\t']

test('a required text of which nothing is seen is none', async () => {
  for (const text of unseen)
    for (const [resource, body, field] of [
      ['deal', dealBody(known, { title: text }), 'title'],
      ['company', { name: text }, 'name'],
      ['contact', { last_name: text }, 'last_name'],
      ['tag', { name: text }, 'name'],
      ['product', { name: text }, 'name'],
    ] as const) {
      const reply = await call('POST', `${v1}/${resource}`, body)
      assert.equal(reply.status, 422, `${resource} ${JSON.stringify(text)}: ${reply.text}`)
      assert.deepEqual([reply.body.errors[0].field, reply.body.errors[0].code], [field, 'required'])
    }
  // Elsewhere they stay: the emoji of a family has joiners.
  const family = await call('POST', `${v1}/tag`, { name: '👨\u200d👩\u200d👧' })
  assert.equal(family.body.data?.name, '👨\u200d👩\u200d👧', family.text)
})

test('an e-mail or a phone number with a character that nobody sees is refused, and says so', async () => {
  for (const email_value of ['a\u200bb@example.com', '\u202ea@example.com', 'a\u00ad@example.com']) {
    const reply = await call('POST', `${v1}/contact`, {
      last_name: 'Seen',
      emails: [{ email_type: 1, email_value }],
    })
    assert.equal(reply.status, 422, reply.text)
    assert.match(reply.body.errors[0].hint, /a character that nobody sees/)
  }
  const copied = { last_name: 'Seen', phones: [{ phone_type: 1, phone_number: '\u202a+1 555 0100' }] }
  const reply = await call('POST', `${v1}/contact`, copied)
  assert.match(reply.body.errors[0].hint, /a character that nobody sees/, reply.text)
})

test('a website is the address of a page', async () => {
  for (const website of [
    ...['javascript:alert(1)', ' JavaScript:alert(1)', 'java\nscript:alert(1)', '\u0001javascript:x'],
    ...['data:text/html,x', 'vbscript:x', 'file:///etc/passwd', 'mailto:a@example.com'],
  ]) {
    const reply = await call('POST', `${v1}/company`, { name: 'Linked', website })
    assert.equal(reply.status, 422, website)
    assert.equal(reply.body.errors[0].code, 'invalid_url', reply.text)
  }
  for (const website of ['example.com', 'www.example.com:8080/a', 'HTTPS://example.com', 'n/a']) {
    const reply = await call('POST', `${v1}/company`, { name: 'Linked', website })
    assert.equal(reply.status, 201, reply.text)
  }
})

test('the address of a webhook has no control characters, which an URL would lose', async () => {
  for (const url of [
    'https://example.com/a\tb',
    'https://exa\nmple.com',
    ' https://example.com',
    'https://example.com\u0000',
  ]) {
    const reply = await call('POST', `${v1}/webhook`, { url, events: ['deal.won'] })
    assert.equal(reply.status, 422, JSON.stringify(url))
  }
})

test('an export defuses what a spreadsheet takes for a formula', async () => {
  const titles = ['\n1', '＝1+1', '＋1', '－1', '＠x', '=1', "'＝1", 'a=1']
  for (const title of titles)
    assert.equal((await call('POST', `${v1}/deal`, dealBody(known, { title }))).status, 201)
  const { text } = await get(`${v1}/deal/export?format=csv&fields=title&sort=id:desc`)
  for (const title of titles.slice(0, -1)) assert.ok(text.includes(`'${title}`), JSON.stringify(title))
  assert.ok(text.includes('a=1') && !text.includes("'a=1"))
})
