/**
 * Creates a record: parses the body, applies the rules, and writes with one statement. That statement checks
 * that the referenced records exist.
 */
import { type Problem, Refusal } from '../errors.ts'
import type { WriteParams } from '../fields/caller-params.ts'
import type { ResourceSchema } from '../fields/catalog.ts'
import type { Values } from '../fields/field.ts'
import type { Undone } from '../fields/resource.ts'
import type { Json } from '../json.ts'
import { type Sql, sql } from '../sql.ts'
import { resolveNames } from './names.ts'
import { type NestedRecords, nestedRecords } from './nested.ts'
import { type Parsed, parseRecord } from './parse.ts'
import { quotaConditions } from './record-quota.ts'
import { referencesExist } from './references.ts'
import {
  authoredBy,
  blank,
  candidatesOf,
  changesOf,
  findIdempotentResponse,
  keptOf,
  type Saved,
  save,
  validateRecord,
  type WriteContext,
} from './save.ts'
import { answerOf, createdEvent, insertedRow, type RecordToWrite, type Transaction } from './store.ts'
import { insertedKeys } from './unique.ts'
import { lockFirst, type Write } from './write.ts'

/**
 * Creates a record from a body (D1, D4 to D6). Throws `validation_failed` with every problem; then nothing
 * was saved.
 */
export async function createRecord(
  db: Transaction,
  schema: ResourceSchema,
  body: Json,
  context: WriteContext,
  given: WriteOptions = {},
): Promise<Saved> {
  const { catalog, actor } = context
  const { updatesOthers, quota } = schema.resource
  const before = await findIdempotentResponse(db, schema, context)
  if (before) return before
  for (let attempt = 0; attempt < attempts; attempt++) {
    const parsed = await resolveNames(db, context, names => parseRecord(body, schema, catalog, null, names))
    Object.assign(parsed.values, authoredBy(actor), given.values, keptOf(parsed.values, context))
    for (const problem of given.problems ?? []) parsed.problems.add(() => problem)
    const judged = { before: null, added: parsed.references, recheck: attempt > 0 }
    const draft = await validateRecord(db, schema, parsed, judged, context)
    const nested = await nestedRecords(db, parsed, context)
    const after = nested.named(schema, draft.after)
    const made = { after, changes: changesOf(schema, blank(schema), after) }
    const response = { warnings: parsed.warnings, created: nested.created, isNew: true }
    const saved = await save(
      db,
      schema,
      context,
      params => creation(params, schema, made, nested, parsed, given),
      response,
      {
        first: nested.isSought || updatesOthers || quota ? lockFirst : undefined,
        candidates: candidatesOf(schema, parsed, { before: null, after }),
      },
    )
    // Nothing was written: a referenced record is missing, the record limit is reached (D110), or the catalog
    // is outdated (D115). The next attempt finds out which.
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

/** Options of a write that no request may send, such as values of read-only fields and CTEs beside `r`. */
export type WriteOptions = {
  readonly values?: Values
  readonly rows?: (params: WriteParams) => Sql[]
  /** problems of the body that only the calling code can find */
  readonly problems?: readonly Problem[]
  /** the row that recordToChange has just read */
  readonly read?: Record<string, string | null>
  /** True if the stored record is still the right one; if not, it counts as not found */
  readonly isIt?: (before: Values) => boolean
  /** the body, if it depends on the stored record */
  readonly bodyOn?: (before: Values) => Json
  /** the change that an undo reverts (D83) */
  readonly undoes?: Undone
  /** Throws if the stored record may not be changed. */
  readonly check?: (before: Values) => Promise<void>
}

const attempts = 3

/**
 * Inserts the record under the account's next id, with its nested records. Writes nothing if a referenced
 * record is missing or the record limit is reached.
 */
function creation(
  params: WriteParams,
  schema: ResourceSchema,
  draft: RecordToWrite,
  nested: NestedRecords,
  { references }: Parsed,
  { rows: beside }: WriteOptions,
): Write {
  const { isConfiguration = false } = schema.resource
  const { rows, events } = nested.write(params)
  const r = sql`r`
  const conditions = [
    ...referencesExist(params, references),
    ...nested.absent(params),
    ...quotaConditions(params.account, schema.resource, draft.after),
  ]
  return {
    when: conditions.length ? sql.join(conditions, sql`\n    AND `) : sql`true`,
    ids: 1,
    rows: [
      insertedRow(r, schema, params, sql`counted.last_id`, draft),
      ...insertedKeys(params, schema, r, draft, 'keys'),
      ...rows,
      ...(beside?.(params) ?? []),
      ...(schema.resource.updatesOthers?.(params, r) ?? []),
    ],
    events: [...events, createdEvent(schema, draft, r)],
    isConfiguration,
    answer: answerOf(schema),
  }
}
