/** Creates a record: parse, check what it points to, settle, one statement. */
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { moment } from '../fields/moment.ts'
import type { Json } from '../json.ts'
import { documentOf } from './document.ts'
import { nestedRecords } from './nested.ts'
import { parseRecord } from './parse.ts'
import { askReferences, missingReferences, pointedTo, relatedOf } from './references.ts'
import {
  blank,
  type Context,
  changesOf,
  columnParams,
  customParams,
  type Saved,
  save,
  savedBefore,
  settled,
  writeParams,
} from './save.ts'
import { type Queryable, statements } from './store.ts'

/**
 * Creates a record from a body (D1, D4 to D6). Throws `validation_failed` with every problem; then nothing
 * was saved.
 */
export async function createRecord(
  db: Queryable,
  fields: ResourceFields,
  body: Json,
  context: Context,
): Promise<Saved> {
  const { catalog, actor } = context
  const before = await savedBefore(db, fields, context)
  if (before) return before
  for (let attempt = 0; attempt < attempts; attempt++) {
    const parsed = parseRecord(body, fields, catalog, null)
    Object.assign(parsed.values, {
      created_at: moment,
      updated_at: moment,
      created_by: actor,
      updated_by: actor,
    })
    const row = await askReferences(db, catalog, parsed.references)
    const draft = settled(
      fields,
      parsed,
      null,
      context,
      missingReferences(parsed.references, row),
      relatedOf(row),
    )
    const nested = await nestedRecords(db, parsed, context)
    const after = nested.named(fields, draft.after)
    const changes = changesOf(fields, blank(fields), after)
    const points = pointedTo(parsed.references)
    const params = [
      ...writeParams(context),
      customParams(fields, changes).set,
      JSON.stringify(changes),
      documentOf(fields, after),
      ...points.params,
      ...columnParams(fields, after),
      ...nested.params,
    ]
    const told = { warnings: parsed.warnings, created: nested.created }
    const saved = await save(
      db,
      fields,
      context,
      statements(fields).create(nested.all, points.related),
      params,
      told,
    )
    // Nothing: something it points to was deleted since it was asked for, which asking again will tell.
    if (saved) return saved
  }
  throw new Refusal('busy_record', 'What the record points to keeps changing; try again.', [], {
    'retry-after': '1',
  })
}

const attempts = 3
