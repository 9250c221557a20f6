/** Problems in the users' words: labels for internal names, and options without their ids. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { labelOf, problemText, rememberLabels, stepsOf, warningText } from '../../web/src/api/problem-text.ts'

type Listed = Parameters<typeof rememberLabels>[1][number]

const list = (labels: { readonly [name: string]: string }): Listed[] =>
  Object.entries(labels).map(([internal_name, field_name]) => ({ internal_name, field_name }))

rememberLabels(
  'deal',
  list({ pipeline: 'Sales line', title: 'Deal', value: 'Worth' }).concat({
    ...{ internal_name: 'primary_contact', field_name: 'Main contact' },
    ...{ related_field: { source: 'contact' } },
  }),
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
  // Deals have a title of their own.
  assert.equal(
    said('title is too long.', { path: '/primary_contact/title' }),
    'Main contact: Role is too long.',
  )
})

test('a warning names the field of a nested record by the label it has there', () => {
  const warning = (field: string, path: string) =>
    warningText({ field, path, message: 'It is read-only.' }, 'deal')
  assert.equal(warning('title', '/title'), 'Deal: It is read-only.')
  assert.equal(warning('title', '/primary_contact/title'), 'Main contact: Role: It is read-only.')
  assert.equal(warning('unheard_of', '/unheard_of'), 'unheard_of: It is read-only.')
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
