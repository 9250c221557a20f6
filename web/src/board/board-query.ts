/** The board's data: one request for the whole, and a list's page for each window that comes into view. */
import { queryOptions } from '@tanstack/react-query'
import { addDays } from '../activities/next-days.ts'
import { type AnyRecord, api, base, callApi, type Page } from '../api/api.ts'
import {
  fieldsQuery,
  isExpandable,
  mayRead,
  meQuery,
  type Pipeline,
  pipelinesQuery,
  queryClient,
  zoneOf,
} from '../api/queries.ts'
import { stageKinds } from '../api/stage-kind.ts'
import { formats } from '../format/format.ts'
import { type BoardAnswer, type BoardData, boardOf, type Column, type Deal } from './model.ts'
import { windowSize, withFormer, withWindow } from './windows.ts'

/** The last updated deals come first: a moved card stays visible. */
export const defaultSort = 'updated_at:desc'

export type BoardRequest = {
  readonly pipeline?: string | undefined
  readonly filter?: string | undefined
  readonly sort?: string | undefined
  /** 'all': all closed deals; default: those of the last thirty days */
  readonly closed?: string | undefined
}

export const closedDays = 30

const shown = [
  'id',
  'title',
  'pipeline_stage',
  'company',
  'primary_contact',
  'sales_owner',
  'deal_value',
  'deal_value_in_base_currency',
  'expected_close_date',
  'rotting_days',
  'tags',
  'upcoming_activities',
  'next_activity_at',
  'next_activity_subject',
  'updated_at',
  'version',
]

const dealFields = async () => (await queryClient.ensureQueryData(fieldsQuery('deal'))).flat()

const usual: readonly string[] = []

/**
 * The fields that the board's pipeline has chosen for its cards; none: the usual ones. `named`: its id or its
 * name (D129); undefined: the account's first.
 */
export function cardFieldsOf(pipelines: readonly Pipeline[], named: string | undefined): readonly string[] {
  const isNamed = ({ id, name }: Pipeline) =>
    String(id) === named || name.toLowerCase() === named?.toLowerCase()
  const shown = named ? pipelines.find(isNamed) : pipelines[0]
  return shown?.card_fields ?? usual
}

/** The fields to request for each card: those it shows, if the role can see them, and the sort fields. */
async function cardParameters({ sort = defaultSort, pipeline }: BoardRequest) {
  const [fields, pipelines] = await Promise.all([
    dealFields(),
    mayRead('pipeline') ? queryClient.ensureQueryData(pipelinesQuery) : [],
  ])
  const byName = new Map(fields.map(field => [field.internal_name, field]))
  const sorted = sort.split(',').map(part => part.split(/[.:]/)[0]!)
  const wanted = new Set([...shown, ...cardFieldsOf(pipelines, pipeline), ...sorted])
  const seen = [...wanted].filter(name => byName.has(name))
  const isNamed = (name: string) => name !== 'pipeline_stage' && isExpandable(byName.get(name)!)
  return { fields: seen.join(','), expand: seen.filter(isNamed).join(',') }
}

/**
 * The date from which closed deals are shown: a board of years would show, sum and read deals that nobody
 * works on.
 */
async function closedSince({ closed }: BoardRequest): Promise<string | undefined> {
  const fields = new Set((await dealFields()).map(({ internal_name }) => internal_name))
  const isSeen = ['deal_closed_on', 'status'].every(name => fields.has(name))
  if (closed === 'all' || !isSeen) return undefined
  const timeZone = zoneOf(await queryClient.ensureQueryData(meQuery))
  return addDays(formats({ locale: 'en-US', timeZone }).today(), -closedDays)
}

let readings = 0

export const boardQuery = (request: BoardRequest) =>
  queryOptions({
    queryKey: [
      'board',
      request.pipeline ?? '',
      request.filter ?? '',
      request.sort ?? defaultSort,
      request.closed ?? '',
    ],
    queryFn: async ({ queryKey, signal }): Promise<BoardData> => {
      const { pipeline, filter, sort = defaultSort } = request
      const [closed_since, parameters] = await Promise.all([closedSince(request), cardParameters(request)])
      const query = { pipeline, closed_since, filter, sort, pageSize: windowSize, ...parameters }
      const answer = await callApi<BoardAnswer>('GET', '/deal/view/board', { query, signal })
      const board = boardOf(answer, ++readings)
      const before = queryClient.getQueryData<BoardData>(queryKey)
      return before ? withFormer(board, before) : board
    },
  })

/** One page. */
export const unloadedMax = 500

/** Those of the deals that match the board's filter, with what their cards show. */
export const unloadedQuery = (request: BoardRequest, ids: readonly number[]) =>
  queryOptions({
    queryKey: ['list', 'deal', 'unloaded', request, ids],
    queryFn: async ({ signal }) => {
      const filter = [...(request.filter ? [request.filter] : []), `id:in(${ids.join()})`]
      const query = { filter, pageSize: unloadedMax, count: 'none', ...(await cardParameters(request)) }
      return callApi<Deal[]>('GET', '/deal/view/list', { query, signal })
    },
  })

const underWay = new Set<string>()

/**
 * Reads the window of a column with the row, and adds its cards to the board. It is read once more if the
 * board was read meanwhile, as the answer may be older.
 */
export async function readWindow(request: BoardRequest, column: Column, row: number): Promise<void> {
  const { id: stage, kind } = column
  const { queryKey } = boardQuery(request)
  const readingNow = () => queryClient.getQueryData<BoardData>(queryKey)?.reading
  const reading = readingNow()
  const page = Math.floor(row / windowSize) + 1
  const name = JSON.stringify([queryKey, stage, page])
  if (underWay.has(name)) return
  underWay.add(name)
  try {
    const sort = request.sort ?? defaultSort
    const since = kind === stageKinds.open ? undefined : await closedSince(request)
    const filter = [
      ...(request.filter ? [request.filter] : []),
      ...(since ? [`deal_closed_on:gte(${since})`] : []),
      `pipeline_stage:eq(${stage})`,
    ]
    const query = { filter, sort, page, pageSize: windowSize, ...(await cardParameters(request)) }
    const { body } = await api.request('GET', `${base}/deal/view/list`, { query })
    const { data, meta } = body as Page<AnyRecord>
    const total = meta.totalIsEstimate ? null : meta.total
    queryClient.setQueryData<BoardData>(queryKey, board =>
      board && board.reading === reading
        ? withWindow(board, stage, (page - 1) * windowSize, data as Deal[], total)
        : board,
    )
  } finally {
    underWay.delete(name)
  }
  if (readingNow() !== reading) await readWindow(request, column, row)
}
