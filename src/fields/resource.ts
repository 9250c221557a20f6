/**
 * A resource is a plain object: a table, its fields as data, and its rules. The life of a record (create,
 * update, …) is the same for all and takes the resource as an argument.
 */
import type { Hint, ProblemCode, Refusal, Warning } from '../errors.ts'
import type { Json, JsonObject } from '../json.ts'
import type { Param, Sql } from '../sql.ts'
import type { Step, WriteParams } from './caller-params.ts'
import type { Catalog, CatalogRows, Role } from './catalog.ts'
import type { Field, Option, Values } from './field.ts'
import type { FieldType } from './kinds.ts'

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
  /** fields that responses about other resources contain, so that no role can hide them (D64) */
  readonly shownElsewhere?: readonly string[]
  /** the fields by which a string names a record where the interface takes an id (D75), by priority */
  readonly namedBy?: readonly string[]
  /** True for people: first and last name find a record in either order */
  readonly isPerson?: true
  /** the field that is 1 if a record is active; names find no inactive records */
  readonly inUse?: string
  /** the fields that a search covers besides the name (D86); absent: its records are not searched */
  readonly searched?: readonly string[]
  /** the type of the custom fields that point to its records; absent: no custom field does */
  readonly customType?: FieldType
  /** unique index → the unique field */
  readonly unique?: { readonly [index: string]: string }
  /** its records as the options of the fields that point to them, if the catalog has them all */
  readonly options?: (rows: CatalogRows) => readonly Option[]
  /** True for business data, such as deals: it has sums, batches, imports, and scopes for agents */
  readonly isBusinessData?: true
  /** True if its records are part of the account's catalog, of which each write then makes a new version */
  readonly isConfiguration?: true
  /** the columns that a record of another resource may copy from one of these (D23) */
  readonly snapshot?: readonly string[]
  /**
   * resources whose records are parts of this one's: deleted and restored with it. A part that points to it
   * does not prevent its deletion.
   */
  readonly parts?: readonly string[]
  /** the references to what its records may be parts of: each is a part of the first that is set */
  readonly partOf?: readonly string[]
  /**
   * Steps of a write that update columns of other records that follow from the rows `r` of this resource
   * (D73); `befores`: the values that the stored ones of them had. The write sees all that was saved before
   * it.
   */
  readonly updatesOthers?: (params: WriteParams, r: Sql, befores: readonly Values[]) => Step[]
  /**
   * the columns that writes of other records maintain: the text of their members, and the time of the last
   * change (D89)
   */
  readonly maintained?: { readonly document: string; readonly movedAt: string }
  /**
   * name of its text field with mentions: `@{12}` mentions user 12 (D156), who must be able to read the
   * record and its parents (`partOf`)
   */
  readonly mentionsIn?: string
  /** ownership of its records, if a role may be limited to some of them (D63) */
  readonly ownership?: Ownership
  /** rules of users, if its records are users, who send the requests: nobody can delete themselves */
  readonly actor?: ActorRules
  /** resources whose records are revoked for good when this one is deleted or deactivated */
  readonly revokes?: readonly string[]
  /** Aliases of the event of a creation or change (D69), such as deal.won. Pure. */
  readonly aliases?: (before: Values | null, after: Values) => readonly string[]
  /** Why the author may not make a change (D62); null if they may. Pure. */
  readonly whyForbidden?: (change: RightsChange) => string | null
  /** Why no caller can delete a record; null if one can. Pure. */
  readonly whyUndeletable?: (record: Values) => string | null
  /**
   * Invariant beyond the record that a creation or change must keep, such as that the account always has an
   * administrator (D62).
   */
  readonly invariant?: (before: Values | null, after: Values) => Invariant | null
  /**
   * Why a read-only field has its value, for a caller who sent another; `record` is the body over the stored
   * record. Pure.
   */
  readonly whyReadOnly?: (field: string, sent: Json, record: Values, catalog: Catalog) => string | null
  /**
   * Maximum number of live records of an account (D110, D130), or of those with the same value in the field
   * `of`; `what` names them in messages.
   */
  readonly quota?: { readonly count: number; readonly of?: string; readonly what: string }
  /**
   * Applies the rules that span fields and sets derived values. Pure: reports problems, sets `draft.after`.
   */
  applyRules?(draft: Draft): void
}

/** The columns of a resource that determine the ownership of a record. */
export type Ownership = {
  readonly owner: string
  /** the column to use if there is no owner */
  readonly creator?: string
  readonly territory?: string
  /** the references to records whose `territory` is also its own */
  readonly through?: readonly string[]
  /** True if only administrators see other users' records, whatever a role says */
  readonly isPrivate?: true
  /**
   * the column that is 1 if everybody sees a record, and administrators may change it; only its owner sees
   * any other
   */
  readonly sharedBy?: string
}

/** The rules of a resource whose records are users. */
export type ActorRules = {
  /** SQL of the error that forbids a deletion, or of null */
  readonly refusedDeletion: (params: WriteParams, record: Param, isAdmin: boolean) => Sql
  /** error → its message */
  readonly refusals: { readonly [slug: string]: string }
  /** steps of a write that revoke the sessions and tokens of the actor `r` */
  readonly endedAccess: (params: WriteParams) => Step[]
}

/** An invariant beyond the record, checked under the account's lock, and the refusal if it fails. */
export type Invariant = { readonly condition: (account: Param) => Sql; readonly refusal: () => Refusal }

/** A record on its way to being saved. */
export type Draft = {
  /** null on create */
  readonly before: Values | null
  /** the record to be saved; applyRules adds derived values */
  readonly after: Values
  /**
   * The values to copy from a record that this one newly points to (D23); null unless its resource has a
   * `snapshot`.
   */
  related(resource: string, id: number): JsonObject | null
  /** the members of the request */
  readonly sent: ReadonlySet<string>
  /** the change that is undone (D83), if any: members that are not sent then stay unchanged */
  readonly undoes: Undone | null
  readonly catalog: Catalog
  /** a text, no time, for the moment of the write, which only the database knows (fields/moment.ts) */
  readonly momentPlaceholder: string
  /** the moment by the clock of this process: for bounds of a day or so */
  readonly clock: Date
  /** `because`: the other field that causes the problem, and that it mentions (D64). */
  problem(
    field: string,
    code: ProblemCode,
    message: string,
    more?: { at?: string; rule?: number; because?: string; hint?: Hint; [extra: string]: unknown },
  ): void
  /** `path` is that in the record; default: that of the field. */
  warn(warning: Warning): void
}

/** A change to undo: the values of its fields before it, and the values that it set. */
export type Undone = { readonly former: Values; readonly made: Values }

/** The rights of a caller (D62); the class `Rights` implements it. */
export type CallerRights = {
  readonly scopes: ReadonlySet<string>
  readonly role: Role
  readonly endsAt: number | null
  readonly isAdmin: boolean
}

/** A change of a record: `before` is null for a creation, `after` for a deletion. */
export type RightsChange = {
  readonly before: Values | null
  readonly after: Values | null
  readonly catalog: Catalog
  readonly rights: CallerRights
  /** the id of the user who makes it */
  readonly actor: number
}
