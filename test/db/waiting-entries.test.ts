/**
 * Entries that wait to be sorted into an index are read by each lookup: none wait in the indexes by which
 * writes look up references, unique values and e-mails.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealBody, startService } from '../support/service.ts'

const { db, made, known } = await startService()

/** Name → waiting pages: of the GIN indexes that find parts of words, or of the others. Sorts them in. */
async function waitingPages(ofWords: boolean): Promise<Map<string, number>> {
  const rows = await db.query(
    `SELECT c.relname AS name, gin_clean_pending_list(c.oid)::text AS pages
     FROM pg_class c JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE a.amname = 'gin' AND n.nspname = current_schema()
       AND (pg_get_indexdef(c.oid) LIKE '%gin_trgm_ops%') = ${ofWords}`,
  )
  return new Map(rows.map(({ name, pages }) => [name!, Number(pages)]))
}

test('a write leaves entries waiting in the indexes of words alone', async () => {
  const field = await made('field', { source: 'deal', field_name: 'Partner', type: 'CONTACT' })
  const contact = await made('contact', { last_name: 'Waits' })
  const references = { related_contacts: [contact.id], [field.internal_name]: contact.id }
  await made('deal', dealBody(known, { title: 'Waits', ...references }))
  assert.ok((await waitingPages(true)).get('deal_title_trigram')! > 0)
  const others = await waitingPages(false)
  assert.ok(others.size >= 13, [...others.keys()].join())
  assert.deepEqual(
    [...others].filter(([, pages]) => pages > 0),
    [],
  )
})
