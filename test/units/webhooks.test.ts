/** The pure parts of webhooks (D72): permitted addresses, signatures, and the schedule of retries. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { isAskedFor, knownTypes } from '../../src/history/event-types.ts'
import { isPublic, literalOf } from '../../src/work/webhooks/address.ts'
import { isHopeless, nextTry } from '../../src/work/webhooks/retries.ts'
import { newWebhookSecret, signedHeaders } from '../../src/work/webhooks/signature.ts'

const publicOnes = ['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.0', '100.63.255.255', '223.255.255.255']
const publicSix = ['2606:4700:4700::1111', '2a00:1450:4001:829::200e', '2001:4860:4860::8888']
const others = [
  ...['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '172.16.0.1', '172.31.255.255'],
  ...['192.168.0.1', '100.64.0.1', '100.127.255.255', '169.254.169.254', '192.0.0.1', '192.0.2.1'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '192.88.99.1', '224.0.0.1'],
  ...['239.255.255.255', '240.0.0.1', '255.255.255.255', '168.63.129.16'],
  ...[
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::ffff:a9fe:a9fe',
    '::127.0.0.1',
    '::ffff:0:1.2.3.4',
  ],
  ...['64:ff9b::7f00:1', '64:ff9b:1::1', '100::1', 'fe80::1', 'fe80::1%eth0', 'fc00::1', 'fd00:ec2::254'],
  ...['ff02::1', 'fec0::1', '2001::1', '2001:20::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1'],
  ...['', 'localhost', '127.1', '0x7f.1', '2130706433', '8.8.8.8/32', '[::1]'],
]

test('only public addresses of one host may be reached', () => {
  for (const address of [...publicOnes, ...publicSix]) assert.ok(isPublic(address), address)
  for (const address of others) assert.ok(!isPublic(address), address)
})

test('an address is judged as what it is connected as, however it is spelt', () => {
  const hosts: [url: string, address: string | null][] = [
    ['http://2130706433/', '127.0.0.1'],
    ['http://0x7f.1/', '127.0.0.1'],
    ['http://017700000001/', '127.0.0.1'],
    ['http://127.1/', '127.0.0.1'],
    ['http://[::ffff:169.254.169.254]/', '::ffff:a9fe:a9fe'],
    ['http://[::1]:8080/', '::1'],
    ['http://１２７.0.0.1/', '127.0.0.1'],
    ['https://example.com/', null],
    ['https://localhost/', null],
  ]
  for (const [url, address] of hosts) {
    assert.equal(literalOf(new URL(url)), address, url)
    if (address) assert.ok(!isPublic(address), url)
  }
})

test('standardwebhooks verifies a signature by either secret, and none that was tampered with', () => {
  const [older, newer, foreign] = [1, 2, 3].map(() => newWebhookSecret())
  const body = JSON.stringify({ type: 'deal.won', data: { title: 'é "\n' } })
  const headers = { ...signedHeaders([newer!, older!], 'msg_1', new Date(), body) }
  for (const secret of [older!, newer!])
    assert.deepEqual(new Webhook(secret).verify(body, headers), JSON.parse(body))
  assert.throws(() => new Webhook(foreign!).verify(body, headers))
  assert.throws(() => new Webhook(newer!).verify(`${body} `, headers))
  assert.throws(() => new Webhook(newer!).verify(body, { ...headers, 'webhook-id': 'msg_2' }))
  const old = signedHeaders([newer!], 'msg_1', new Date(Date.now() - 3_600_000), body)
  assert.throws(() => new Webhook(newer!).verify(body, { ...old }))
  assert.match(newer!, /^whsec_[A-Za-z0-9+/]{43}=$/)
})

test('retries: eight, further and further apart; after three days of failure no more', () => {
  const now = new Date('2026-01-01T00:00:00Z')
  const seconds = Array.from({ length: 10 }, (_, tries) => {
    const next = nextTry(tries + 1, now)
    return next && (next.getTime() - now.getTime()) / 1000
  })
  assert.deepEqual(seconds, [5, 30, 120, 600, 3600, 21_600, 86_400, 172_800, null, null])
  const [threeDays, less] = [3 * 86_400_000, 3 * 86_400_000 - 1]
  assert.ok(isHopeless(new Date(now.getTime() - threeDays), now))
  assert.ok(!isHopeless(new Date(now.getTime() - less), now))
  assert.ok(!isHopeless(null, now))
})

test('types: one, all of a resource, all; what an event also is counts', () => {
  const won = { type: 'deal.updated', also: ['deal.stage_changed', 'deal.won'] }
  for (const asked of ['deal.updated', 'deal.won', 'deal.*', '*']) assert.ok(isAskedFor([asked], won), asked)
  for (const asked of ['deal.lost', 'contact.*', 'deal.created']) assert.ok(!isAskedFor([asked], won), asked)
  const known = knownTypes(['deal', 'contact'])
  for (const type of ['*', 'deal.*', 'deal.won', 'contact.created', 'field.*', 'form.updated'])
    assert.ok(known.includes(type), type)
  for (const type of ['contact.won', 'deal', 'deal.', '*.created']) assert.ok(!known.includes(type), type)
})
