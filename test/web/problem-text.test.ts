/** Problems in the users' words: labels for internal names, and options without their ids. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelOf, problemText, rememberLabels, stepsOf } from '../../web/src/api/problem-text.ts'

const list = (labels: { readonly [name: string]: string }) =>
  Object.entries(labels).map(([internal_name, field_name]) => ({ internal_name, field_name }))

rememberLabels(
  'deal',
  list({ pipeline: 'Sales line', title: 'Deal', primary_contact: 'Main contact', value: 'Worth' }),
)
rememberLabels('contact', list({ title: 'Role', emails: 'E-mails', last_name: 'Last name' }))
rememberLabels('webhook', list({ url: 'Address' }))

test('a message begins with the label of its field', () => {
  const said = (message: string, more: object = {}) => problemText({ message, ...more }, 'deal')
  assert.equal(said('pipeline is required.', { path: '/pipeline' }), 'Sales line is required.')
  assert.equal(
    said('title is "x", title or not.', { hint: 'Mend it.' }),
    'Deal is "x", title or not. Mend it.',
  )
  assert.equal(said('url must be an address.'), 'Address must be an address.')
  assert.equal(problemText({ message: 'title is taken.' }, 'contact'), 'Role is taken.')
  assert.equal(said('The body must be an object.'), 'The body must be an object.')
  assert.equal(said('unheard_of is wrong.'), 'unheard_of is wrong.')
  assert.equal(
    said('emails[0].email_value must be one.', { path: '/emails/0' }),
    'E-mails no. 1 must be one.',
  )
  assert.equal(said('emails[2].email_type is none.'), 'E-mails no. 3, email type is none.')
  assert.equal(
    said('last_name is required.', { path: '/primary_contact/last_name' }),
    'Main contact: Last name is required.',
  )
})

test('options are told by their names alone', () => {
  const hint = 'Options: 1024 Opted our rival, 1025 Price is too high.'
  assert.equal(problemText({ message: 'No.', hint }), 'No. Options: Opted our rival, Price is too high.')
  assert.equal(problemText({ message: 'No.', hint: 'It has 30 characters.' }), 'No. It has 30 characters.')
})

test('a path names fields; labels are those of the resource first', () => {
  assert.deepEqual(stepsOf({ path: '/primary_contact/emails/0/email_value' }), [
    ...['primary_contact', 'emails', 'email_value'],
  ])
  assert.deepEqual(stepsOf({ path: '', field: 'title' }), ['title'])
  assert.deepEqual([labelOf('title', 'deal'), labelOf('title', 'contact')], ['Deal', 'Role'])
  assert.deepEqual([labelOf('url', 'deal'), labelOf('nothing')], ['Address', undefined])
})
