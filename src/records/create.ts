/** Creates a record: parse, check what it points to, settle, one statement. */
import { Refusal } from '../errors.ts'
import type { Catalog, ResourceFields } from '../fields/catalog.ts'
import type { Json } from '../json.ts'
import { documentOf, shown } from './document.ts'
import { nestedRecords } from './nested.ts'
import { type Parsed, parseRecord } from './parse.ts'
import { existenceQuestion, missingReferences, referenceParams, relatedOf } from './references.ts'
import { blank, type Context, changesOf, columnParams, customParams, type Saved, settled } from './save.ts'
import { type Queryable, statements } from './store.ts'

/** Creates a record from a body (D1, D4 to D6). Throws `validation_failed` with every problem; then nothing was saved. */
export async function createRecord(db: Queryable, fields: ResourceFields, body: Json, context: Context): Promise<Saved> {
  const { catalog, actor } = context
  const now = context.now.toISOString()
  const account = String(catalog.account.id)
  const parsed = parseRecord(body, fields, catalog, null)
  Object.assign(parsed.values, { created_at: now, updated_at: now, created_by: actor, updated_by: actor })
  for (let attempt = 0; attempt < attempts; attempt++) {
    const row = await askReferences(db, parsed, account, catalog)
    const draft = settled(fields, parsed, null, context, missingReferences(parsed.references, row), relatedOf(row))
    const nested = await nestedRecords(db, parsed, context)
    const after = nested.named(fields, draft.after)
    const changes = changesOf(fields, blank(fields), after)
    const params = [
      account,
      String(actor),
      now,
      customParams(fields, changes).set,
      JSON.stringify(changes),
      documentOf(fields, after),
      ...referenceParams([fields, ...nested.all], parsed.references),
      ...columnParams(fields, after),
      ...nested.params,
    ]
    const [saved] = await db.write(account, statements(fields).create(nested.all), params)
    // No row: something it points to was deleted since it was asked for, which asking again will tell.
    if (!saved) continue
    const [id, version] = [Number(saved.id), Number(saved.version)]
    return { id, version, record: shown(fields, saved.record!), warnings: parsed.warnings, created: nested.created }
  }
  throw new Refusal('busy_record', 'What the record points to keeps changing; try again.', [], { 'retry-after': '1' })
}

const attempts = 3

async function askReferences(
  db: Queryable,
  { references }: Parsed,
  account: string,
  catalog: Catalog,
): Promise<Record<string, string | null>> {
  if (references.length === 0) return {}
  const question = existenceQuestion(references, 2, catalog)
  const [row] = await db.query(`SELECT ${question.columns.join(', ')}`, [account, ...question.params])
  return row!
}
