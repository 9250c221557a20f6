/** Creates a record: parse, settle, one statement, which asks whether what it points to is there. */
import { Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import { moment } from '../fields/moment.ts'
import type { Json } from '../json.ts'
import { sql } from '../sql.ts'
import { type NestedRecords, nestedRecords } from './nested.ts'
import { type Parsed, parseRecord } from './parse.ts'
import { stillThere } from './references.ts'
import { blank, type Context, changesOf, type Saved, save, savedBefore, settled } from './save.ts'
import { answerOf, changesSql, type Draft, insertedRow, type Queryable } from './store.ts'
import type { Author, Write } from './write.ts'

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
    const judged = { before: null, added: parsed.references, isDoubtful: attempt > 0 }
    const draft = await settled(db, fields, parsed, judged, context)
    const nested = await nestedRecords(db, parsed, context)
    const after = nested.named(fields, draft.after)
    const made = { after, changes: changesOf(fields, blank(fields), after) }
    const told = { warnings: parsed.warnings, created: nested.created }
    const saved = await save(db, fields, context, by => creation(by, fields, made, nested, parsed), told)
    // Nothing: something it points to is not there, which asking will tell.
    if (saved) return saved
  }
  throw new Refusal('busy_record', 'What the record points to keeps changing; try again.', [], {
    'retry-after': '1',
  })
}

const attempts = 3

/** Writes the record with its next id, and those made with it; nothing when what it points to is gone. */
function creation(
  by: Author,
  fields: ResourceFields,
  draft: Draft,
  nested: NestedRecords,
  { references }: Parsed,
): Write {
  const { isConfiguration = false, name } = fields.resource
  const { rows, events } = nested.write(by)
  const r = sql`r`
  return {
    when: references.length ? sql.join(stillThere(by, references), sql`\n    AND `) : sql`true`,
    takesId: true,
    rows: [insertedRow(r, fields, by, sql`counted.last_id`, draft), ...rows],
    events: [...events, { type: `${name}.created`, resource: name, of: r, changes: changesSql(draft) }],
    isConfiguration,
    answer: answerOf(fields),
  }
}
