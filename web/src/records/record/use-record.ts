/** A record of any resource, with the data of its page. */
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { type AnyRecord, DealwrightError, type Field, type Names } from '../../api/api.ts'
import { expandable, fieldsQuery, pageQuery, recordQuery } from '../../api/queries.ts'

export type ShownRecord = {
  readonly resource: string
  readonly record: AnyRecord
  readonly sections: readonly (readonly Field[])[]
  readonly fields: readonly Field[]
  /** the `expand` parameter of the record, for the names behind its ids */
  readonly expand: string
}

export const namesOf = (record: AnyRecord): Names => record._expanded ?? {}

/** True if a part of an address can be a record's id. */
export const isId = (text: string) => /^[1-9]\d{0,15}$/.test(text)

/** True if a record doesn't exist, or the caller can't see it. */
export const isMissing = (error: unknown) => error instanceof DealwrightError && error.status === 404

/** The record; also a deleted one that can be restored. `error` is the reason if there is none. */
export function useRecord(
  resource: string,
  id: number,
): { shown: ShownRecord | null; error: unknown; retry: () => void } {
  const { data: sections } = useSuspenseQuery(fieldsQuery(resource))
  const expand = expandable(sections)
  const live = useQuery(recordQuery(resource, id, expand))
  const isGone = isMissing(live.error)
  const request = { filter: `id:eq(${id})`, deleted: 'only', expand } as const
  const deleted = useQuery({ ...pageQuery(resource, request, 1, 1), enabled: isGone })
  // The former record stays until the deleted one is read: the page and the text in it would be unmounted.
  const former = deleted.isPending ? live.data : undefined
  const record = isGone ? (deleted.data?.data[0] ?? former) : live.data
  const retry = () => void (isGone && deleted.error ? deleted : live).refetch()
  if (record)
    return { shown: { resource, record, sections, fields: sections.flat(), expand }, error: null, retry }
  const error = isGone ? (deleted.isPending ? null : (deleted.error ?? live.error)) : live.error
  return { shown: null, error, retry }
}
