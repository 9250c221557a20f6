/**
 * Reads the activities of days, all of them or the first by time. Their pages are in the order of their ids,
 * which never change: an activity that is moved meanwhile comes once, and no other is left out for it.
 */
import { queryOptions } from '@tanstack/react-query'
import { addDays } from '../activities/next-days.ts'
import { type AnyRecord, api, base, type Page } from '../api/api.ts'
import { momentOf } from './days.ts'
import { minutesOfDay, partsMax } from './entries.ts'

const pageSize = 500
/** More are not read: nobody sees them on one page. */
const most = 2000

type Read = Page<AnyRecord>
type Query = { readonly [name: string]: string | number | undefined }

/** The condition of what is on these days. What takes more than a day may have begun long before. */
export function conditionOfDays(days: readonly string[], timeZone: string, hasDuration: boolean): string {
  const at = (day: string, later: number) => momentOf(addDays(day, later), 0, timeZone)
  const [first, end] = [days[0]!, at(days.at(-1)!, 1)]
  // An activity of the day before may still go on.
  const near = `due_at:gte(${at(first, -1)})`
  if (!hasDuration) return `${near},due_at:lt(${end})`
  const far = `due_at:gte(${at(first, 1 - partsMax)})`
  return `${far},due_at:lt(${end}),or(${near},duration:gt(${minutesOfDay}))`
}

/** The result has the form of a page, so that optimistic updates reach it. */
export const daysQuery = (filter: string, fields: string, expand: string) =>
  queryOptions({
    queryKey: ['list', 'activity', 'calendar', filter, fields, expand],
    queryFn: async ({ signal }) => {
      const list = async (query: Query) => {
        const path = `${base}/activity/view/list`
        const { body } = await api.request('GET', path, { query: { fields, expand, ...query }, signal })
        return body as Read
      }
      const follow = async (filter: string, first: Read | null): Promise<Read> => {
        const query = { filter, sort: 'id:asc', pageSize }
        const { data, meta } = first ?? (await list(query))
        const rows = [...data]
        for (let next = meta.nextCursor; next; ) {
          const page = await list({ ...query, cursor: next })
          rows.push(...page.data)
          next = page.meta.nextCursor
        }
        return { data: rows, meta: { ...meta, hasMore: false } }
      }
      const first = await list({ filter, sort: 'id:asc', pageSize })
      const { total } = first.meta
      const beyond = total === null || total > most ? await firstBeyond(filter, list) : undefined
      if (!beyond) return follow(filter, first)
      const { id, due_at } = beyond
      const before = `or(due_at:lt(${due_at}),and(due_at:eq(${due_at}),id:lt(${id})))`
      const { data, meta } = await follow(`${filter},${before}`, null)
      return { data, meta: { ...meta, total, hasMore: true } }
    },
  })

/** The first activity by time that is not read. */
async function firstBeyond(filter: string, list: (query: Query) => Promise<Read>) {
  const place = { page: most + 1, pageSize: 1, count: 'none' }
  const { data } = await list({ filter, sort: 'due_at:asc,id:asc', ...place })
  return data[0]
}
