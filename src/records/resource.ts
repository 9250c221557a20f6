/**
 * What a resource is: a plain object with a table, its fields as data, and its rules. The life of a record
 * (create, update, …) is the same for all and takes the resource as an argument.
 */
import type { Hint, Refusal, Warning } from '../errors.ts'
import type { Catalog, CatalogRows } from '../fields/catalog.ts'
import type { Expression } from '../fields/columns.ts'
import { type Config, type Field, type Option, plainField, type Values } from '../fields/field.ts'
import type { FieldType } from '../fields/kinds.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Change as GrantChange } from '../rights/grants.ts'
import type { Reach } from '../rights/visibility.ts'
import type { Param, Sql } from '../sql.ts'
import type { Author } from './write.ts'

export type Resource = {
  /** also the table's name and the word in the path */
  readonly name: string
  readonly source: {
    readonly id: number
    readonly name: string
    readonly config?: { readonly [name: string]: boolean }
  }
  readonly fields: readonly Field[]
  /** the fields that make the name under which a record is shown and sorted */
  readonly shownAs: readonly string[]
  /** the fields that answers about other resources are made of, so that no role can hide them (D64) */
  readonly toldElsewhere?: readonly string[]
  /**
   * the fields by which a string names a record where the interface takes an id (D75); the earlier one beats
   * the later one
   */
  readonly namedBy?: readonly string[]
  /** whether the record is of a person, whom their full name in any order names, too */
  readonly isPerson?: true
  /** the field that says whether a record is in use (1); names find no other records */
  readonly inUse?: string
  /** the fields beside its name in which a search looks (D86); left out: its records are not searched */
  readonly searched?: readonly string[]
  /** the type of the custom fields that point to its records; without it no custom field does */
  readonly customType?: FieldType
  /** unique index → the field of which no two records have the same value */
  readonly unique?: { readonly [index: string]: string }
  /** its records as the options of the fields that point to them, where the catalog has them all */
  readonly options?: (rows: CatalogRows) => readonly Option[]
  /** whether its records are part of the account's catalog, which then has a new version with each write */
  readonly isConfiguration?: true
  /** the columns that a record of another resource may copy from one of these (D23) */
  readonly snapshot?: readonly string[]
  /**
   * resources whose records are parts of this one's. Parts are deleted and restored with it. A part that
   * points to it does not keep it from being deleted.
   */
  readonly parts?: readonly string[]
  /** the references to what its records may be parts of: each is a part of the first that it has */
  readonly partOf?: readonly string[]
  /**
   * CTEs of a write that bring columns of other records in line with the rows `r` of this resource, as the
   * write leaves them (D73). The write goes after `lockFirst`, so it sees all that was saved before.
   */
  readonly bringsInLine?: (by: Author, r: Sql) => Sql[]
  /**
   * the columns that writes of other records keep beside those of fields: the text of their members, and when
   * it changed last (D89)
   */
  readonly kept?: { readonly document: string; readonly movedAt: string }
  /** whose its records are, where a role may be limited to some of them (D63) */
  readonly reach?: Reach
  /** set where its records are users, who send the requests: nobody can delete themselves */
  readonly actor?: ActorRules
  /** resources whose records end for good with this one, when it is deleted or taken out of use */
  readonly ends?: readonly string[]
  /** What else the event of a creation or change is (D69), as people ask for it: deal.won. Pure. */
  readonly also?: (before: Values | null, after: Values) => readonly string[]
  /** Why a change is not for its author to make (D62); null where it is. Pure. */
  readonly forbids?: (change: GrantChange) => string | null
  /** Why a record can't be deleted, whoever asks; null where it can. Pure. */
  readonly stays?: (record: Values) => string | null
  /**
   * What must be true of the account for a change to be made, so that somebody still administers it (D62).
   */
  readonly keeps?: (before: Values, after: Values) => Keeps | null
  /**
   * What decides on the value of a read-only field, for somebody who sent another; `record` as it was sent,
   * over what is stored. Pure.
   */
  readonly explains?: (field: string, sent: Json, record: Values, catalog: Catalog) => string | null
  /**
   * How many live records an account may have (D110, D130), or as many with the same value in the field `of`;
   * `what` they then are.
   */
  readonly most?: { readonly count: number; readonly of?: string; readonly what: string }
  /**
   * The rules that span fields and the values that follow from others. Pure: reports problems, sets
   * `draft.after`.
   */
  applyRules(draft: Draft): void
}

/** The rules of those who ask. */
export type ActorRules = {
  /** SQL of the error for which a record is not to be deleted, or of null */
  readonly refusedDeletion: (by: Author, record: Param, isAdmin: boolean) => Sql
  /** error → what it says */
  readonly refusals: { readonly [slug: string]: string }
  /** CTEs of a write that end what the actor `r` asks with */
  readonly endedAccess: (by: Author) => Sql[]
}

/** What must be true, beside the record, under the account's lock; and the refusal where it is not. */
export type Keeps = { readonly condition: (account: Param) => Sql; readonly refusal: () => Refusal }

/** A record on its way to being saved. */
export type Draft = {
  /** null on create */
  readonly before: Values | null
  /** the record as it would be saved; applyRules adds what follows from it */
  readonly after: Values
  /**
   * The values that are copied from a record that this one newly points to (D23); null unless its resource
   * has a `snapshot`.
   */
  related(resource: string, id: number): JsonObject | null
  /** the members the request names */
  readonly sent: ReadonlySet<string>
  /** set where a change is undone (D83): then what is not sent stays as it is */
  readonly undoes: Undone | null
  readonly catalog: Catalog
  /** stands for the moment of the write, which only the database knows (fields/moment.ts) */
  readonly now: string
  /** that moment by the clock of this process: for bounds of a day or so */
  readonly clock: Date
  /** `because`: the other field that decides on it, of which the problem tells (D64). */
  problem(
    field: string,
    code: string,
    message: string,
    more?: { at?: string; rule?: number; because?: string; hint?: Hint; [extra: string]: unknown },
  ): void
  warn(warning: Warning): void
}

/** A change that is undone: the values of its fields from before it, and those that it made. */
export type Undone = { readonly former: Values; readonly made: Values }

/** A field of the service itself, as a resource writes it down. */
export type FieldDefinition = {
  id: number
  name: string
  label: string
  type: FieldType
  required?: boolean
  readOnly?: boolean
  hidden?: boolean
  config?: Config
  default?: Json
  options?: readonly string[]
  within?: string
  related?: string
  linesOf?: string
  inBase?: string
  offered?: boolean
  rules?: readonly number[]
  help?: string
  acceptsNumber?: boolean
  email?: boolean
  /** whether the schema keeps two records of an account from having the same value */
  unique?: true
  computed?: Expression
  moves?: Expression
  volatile?: boolean
  /** the resource whose writes keep its column; such a field is volatile */
  keptBy?: string
  showsOne?: boolean
  /** whether the service itself gives every record a value. Required fields have one in any case. */
  filled?: boolean
  derivesFrom?: readonly string[]
  ofStore?: boolean
}

/**
 * Sections of definitions, in the order of the form → fields. Static options are numbered from 1 in the order
 * given.
 */
export function defineFields(
  resource: string,
  sections: { readonly [title: string]: readonly FieldDefinition[] },
): Field[] {
  return Object.entries(sections).flatMap(([section, definitions]) =>
    definitions.map(definition => ({
      ...plainField,
      resource,
      id: definition.id,
      internal_name: definition.name,
      field_name: definition.label,
      type: definition.type,
      section,
      is_active: true,
      is_required: definition.required ?? false,
      is_read_only: definition.readOnly ?? false,
      is_custom: false,
      is_hidden: definition.hidden ?? false,
      is_unique: definition.unique ?? false,
      is_unique_by_index: definition.unique ?? false,
      accepts_number: definition.acceptsNumber ?? false,
      is_email: definition.email ?? false,
      config: definition.config ?? {},
      default_value: definition.default ?? null,
      options: staticOptions(definition.options ?? []),
      has_static_options: definition.options !== undefined,
      within: definition.within ?? null,
      related: definition.related ?? null,
      lines_of: definition.linesOf ?? null,
      in_base: definition.inBase ?? null,
      is_offered: definition.offered ?? false,
      rules: definition.rules ?? [],
      help: definition.help ?? null,
      computed: definition.computed ?? null,
      moves: definition.moves ?? null,
      is_volatile: definition.volatile ?? definition.keptBy !== undefined,
      kept_by: definition.keptBy ?? null,
      shows_one: definition.showsOne ?? false,
      is_filled: definition.filled ?? definition.required ?? false,
      derives_from: definition.derivesFrom ?? [],
      is_of_store: definition.ofStore ?? false,
      version: 1,
    })),
  )
}

function staticOptions(names: readonly string[]): Option[] {
  return names.map((name, index) => ({
    id: index + 1,
    name,
    position: index + 1,
    is_active: true,
    is_default: false,
  }))
}

/** The field every resource begins with. */
export function idField(id: number): FieldDefinition {
  return { id, name: 'id', label: 'ID', type: 'SINGLE_NUMBER', readOnly: true, ofStore: true }
}

/** What people call the record: at most 255 characters. */
export function nameField(id: number, more: { unique?: true } = {}): FieldDefinition {
  const label = 'Name'
  return { id, name: 'name', label, type: 'SINGLE_STRING', required: true, config: nameLength, ...more }
}

const nameLength = { min_length: 1, max_length: 255 }

/** When and by whom a record was created and changed. */
export function authorFields(firstId: number): FieldDefinition[] {
  const at = { type: 'DATE_TIME', readOnly: true, filled: true } as const
  const by = { type: 'OWNER', readOnly: true, related: 'user' } as const
  return [
    { id: firstId, name: 'created_at', label: 'Created at', ...at },
    { id: firstId + 1, name: 'updated_at', label: 'Updated at', ...at },
    { id: firstId + 2, name: 'created_by', label: 'Created by', ...by },
    { id: firstId + 3, name: 'updated_by', label: 'Updated by', ...by },
  ]
}

/**
 * The fields every resource ends with: metadata (D18), version (D7), and when and by whom it was deleted (D9,
 * D69). `deletedBy`: the id of the last one, where the next number is taken.
 */
export function recordFields(firstId: number, deletedBy: number = firstId + 3): FieldDefinition[] {
  const own = { readOnly: true, ofStore: true } as const
  const by = { type: 'OWNER', related: 'user' } as const
  return [
    { id: firstId, name: 'metadata', label: 'Metadata', type: 'JSON' },
    { id: firstId + 1, name: 'version', label: 'Version', type: 'SINGLE_NUMBER', ...own },
    { id: firstId + 2, name: 'deleted_at', label: 'Deleted at', type: 'DATE_TIME', ...own },
    { id: deletedBy, name: 'deleted_by', label: 'Deleted by', ...by, ...own },
  ]
}
