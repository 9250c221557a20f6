/**
 * The request for a page of a list. query.ts reads it from parameters, order.ts and page.ts make a statement
 * of it. Types only.
 */
import type { Catalog, ResourceSchema } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import type { NameLookup } from '../records/name-lookup.ts'
import type { Query } from './parameters.ts'
import type { Plan, PlannedSortKey } from './plan.ts'

/** The parameters of a list that are being read, and what they may name. */
export type QueryContext = Query & {
  readonly schema: ResourceSchema
  readonly catalog: Catalog
  /** those that the filter may contain (D75) */
  readonly names: NameLookup
}

/** The records that a request is about. */
export type RecordSelection = {
  /** the resource, as the caller sees it */
  readonly schema: ResourceSchema
  readonly filter: Plan | null
  /** true: only deleted records; false: only records that are not deleted */
  readonly isOfDeleted: boolean
}

/** The selected records of a list or a report. */
export type Selection = RecordSelection & {
  /** the texts of the filters, and the day: the total is cached by them */
  readonly totalKey: string
  /** true if the filter contains names (D75), whose ids depend on the caller and the time */
  readonly hasNames: boolean
  /** a past day at whose end the records are read (D74): YYYY-MM-DD; null: current records */
  readonly day: string | null
}

export type ListRequest = Selection & {
  /** counted from 1; always 1 with a cursor */
  readonly page: number
  readonly pageSize: number
  readonly cursor: Cursor | null
  readonly sort: readonly PlannedSortKey[]
  readonly only: readonly Field[] | null
  readonly expand: readonly Field[]
  readonly count: 'auto' | 'exact' | 'estimate' | 'none'
  /** identifies the list, the texts of its filters last; its cursors contain a hash of it */
  readonly identity: readonly (string | null)[]
  /** the moment that sorts take for now: UTC, with milliseconds */
  readonly clock: string
}

/** The values of the sort keys in one record: the page begins after it. */
export type Position = readonly (string | null)[]

export type Cursor = {
  readonly position: Position
  /** the moment of the first page, which sorts take for now on every page */
  readonly clock: string
}
