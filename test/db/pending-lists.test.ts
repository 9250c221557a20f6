/**
 * Each lookup scans the pending list of a GIN index: writes leave none in the indexes by which they look up
 * references, unique values and e-mails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, startService } from '../support/service.ts'

const { db, made, known } = await startService()

/** Name → pages of the pending list, of the trigram or of the other GIN indexes. Empties the lists. */
async function pendingPages(ofTrigrams: boolean): Promise<Map<string, number>> {
  const rows = await db.query(
    `SELECT c.relname AS name, gin_clean_pending_list(c.oid)::text AS pages
     FROM pg_class c JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE a.amname = 'gin' AND n.nspname = current_schema()
       AND (pg_get_indexdef(c.oid) LIKE '%gin_trgm_ops%') = ${ofTrigrams}`,
  )
  return new Map(rows.map(({ name, pages }) => [name!, Number(pages)]))
}

test('a write leaves pending entries in trigram indexes alone', async () => {
  const field = await made('field', { source: 'deal', field_name: 'Partner', type: 'CONTACT' })
  const contact = await made('contact', { last_name: 'Waits' })
  const references = { related_contacts: [contact.id], [field.internal_name]: contact.id }
  await made('deal', dealBody(known, { title: 'Waits', ...references }))
  assert.ok((await pendingPages(true)).get('deal_title_trigram')! > 0)
  const others = await pendingPages(false)
  assert.ok(others.size >= 13, [...others.keys()].join())
  assert.deepEqual(
    [...others].filter(([, pages]) => pages > 0),
    [],
  )
})
