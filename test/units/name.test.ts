/** Names in their compared form, by table (D127). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { comparedName, isSameName, plainWords } from '../../src/fields/name.ts'

test('blanks around it, case and composition make no other name', () => {
  for (const [one, other] of [
    ['Web', ' wEB '],
    ['Größe', 'GRÖSSE'.replace('SS', 'ß')],
    ['é', 'e\u0301'],
    ['Việt Nam', 'việt nam'.normalize('NFD')],
    ['\u1f82', '\u1f82'.normalize('NFD')],
    ['한국어'.repeat(85), '한국어'.repeat(85).normalize('NFD')],
    [`a${'\u0301'.repeat(30)}`, `A${'\u0301'.repeat(30)}`],
    ['\u0301', '\u0301'],
    ['', '  '],
  ] as const) {
    assert.equal(isSameName(one, other), true, `${one} ${other}`)
  }
  for (const [one, other] of [
    ['Web', 'Wep'],
    ['e', 'é'],
    ['A B', 'AB'],
  ] as const) {
    assert.equal(isSameName(one, other), false, `${one} ${other}`)
  }
})

test('what no name can be is compared as it stands', () => {
  for (const text of [
    'A'.repeat(1021),
    `A${'\u0301'.repeat(31)}`,
    `A${'\u0315'.repeat(500)}${'\u0316'.repeat(500)}`,
  ])
    assert.equal(comparedName(` ${text} `), text)
  assert.equal(comparedName('A'.repeat(1020)), 'a'.repeat(1020))
})

test('the words of a name', () => {
  assert.deepEqual(plainWords('Größe (Café) №1'), ['grosse', 'cafe', 'no1'])
  assert.deepEqual(plainWords(`e${'\u0315'.repeat(100_000)}${'\u0316'.repeat(100_000)}`), ['e'])
  assert.deepEqual(plainWords('日本'), [])
})
