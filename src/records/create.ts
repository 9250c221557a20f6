/**
 * Creates a record: parses the body, applies the rules, and writes with one statement. That statement checks
 * that what the record points to exists.
 */
import { type Problem, Refusal } from '../errors.ts'
import type { ResourceFields } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import type { Json } from '../json.ts'
import { type Sql, sql } from '../sql.ts'
import { roomFor } from './most.ts'
import { withNames } from './names.ts'
import { type NestedRecords, nestedRecords } from './nested.ts'
import { type Parsed, parseRecord } from './parse.ts'
import { stillThere } from './references.ts'
import type { Undone } from './resource.ts'
import {
  authoredBy,
  blank,
  type Context,
  candidatesOf,
  changesOf,
  keptOf,
  type Saved,
  save,
  savedBefore,
  validatedRecord,
} from './save.ts'
import { answerOf, createdEvent, insertedRow, type Queryable, type RecordToWrite } from './store.ts'
import { insertedKeys } from './unique.ts'
import { type Author, lockFirst, type Write } from './write.ts'

/**
 * Creates a record from a body (D1, D4 to D6). Throws `validation_failed` with every problem; then nothing
 * was saved.
 */
export async function createRecord(
  db: Queryable,
  fields: ResourceFields,
  body: Json,
  context: Context,
  given: Given = {},
): Promise<Saved> {
  const { catalog, actor } = context
  const { bringsInLine, most } = fields.resource
  const before = await savedBefore(db, fields, context)
  if (before) return before
  for (let attempt = 0; attempt < attempts; attempt++) {
    const parsed = await withNames(db, context, names => parseRecord(body, fields, catalog, null, names))
    Object.assign(parsed.values, authoredBy(actor), given.values, keptOf(parsed.values, context))
    for (const problem of given.problems ?? []) parsed.problems.add(() => problem)
    const judged = { before: null, added: parsed.references, isDoubtful: attempt > 0 }
    const draft = await validatedRecord(db, fields, parsed, judged, context)
    const nested = await nestedRecords(db, parsed, context)
    const after = nested.named(fields, draft.after)
    const made = { after, changes: changesOf(fields, blank(fields), after) }
    const response = { warnings: parsed.warnings, created: nested.created, isNew: true }
    const saved = await save(
      db,
      fields,
      context,
      by => creation(by, fields, made, nested, parsed, given),
      response,
      {
        first: nested.isSought || bringsInLine || most ? lockFirst : undefined,
        candidates: candidatesOf(fields, parsed, { before: null, after }),
      },
    )
    // Nothing was written: something that the record points to does not exist, there may be no more of them
    // (D110), or the catalog is outdated (D115). The next attempt asks what.
    if (saved) return saved
  }
  throw new Refusal(
    'busy_record',
    'What the record points to, or the configuration, keeps changing; try again.',
    [],
    {
      'retry-after': '1',
    },
  )
}

/** What a record gets that no request may send: values of read-only fields, and rows of CTEs beside `r`. */
export type Given = {
  readonly values?: Values
  readonly rows?: (by: Author) => Sql[]
  /** what is wrong with the body, and only whoever gives this knows */
  readonly problems?: readonly Problem[]
  /** the record as it was just read: what recordToChange answers */
  readonly read?: Record<string, string | null>
  /** whether a stored record is still the one that is meant; where not, it is not found */
  readonly isIt?: (before: Values) => boolean
  /** the body for the stored record, where that depends on what it has */
  readonly bodyOn?: (before: Values) => Json
  /** what an undo gives back (D83) */
  readonly undoes?: Undone
  /** Throws where the stored record is not to be changed. */
  readonly judge?: (before: Values) => Promise<void>
}

const attempts = 3

/**
 * Writes the record under the account's next id, together with its nested records. Writes nothing when
 * something that it points to is gone, or when there may be no more of them.
 */
function creation(
  by: Author,
  fields: ResourceFields,
  draft: RecordToWrite,
  nested: NestedRecords,
  { references }: Parsed,
  { rows: beside }: Given,
): Write {
  const { isConfiguration = false } = fields.resource
  const { rows, events } = nested.write(by)
  const r = sql`r`
  const conditions = [
    ...stillThere(by, references),
    ...nested.absent(by),
    ...roomFor(by.account, fields.resource, draft.after),
  ]
  return {
    when: conditions.length ? sql.join(conditions, sql`\n    AND `) : sql`true`,
    ids: 1,
    rows: [
      insertedRow(r, fields, by, sql`counted.last_id`, draft),
      ...insertedKeys(by, fields, r, draft, 'keys'),
      ...rows,
      ...(beside?.(by) ?? []),
      ...(fields.resource.bringsInLine?.(by, r) ?? []),
    ],
    events: [...events, createdEvent(fields, draft, r)],
    isConfiguration,
    answer: answerOf(fields),
  }
}
