/** GET /deal/view/board over HTTP (D129). */
import { boardLanes, readBoardQuery } from '../deals/board.ts'
import { namedByStages } from '../deals/of-pipeline.ts'
import type { JsonObject } from '../json.ts'
import { needNames } from '../list/needed-scopes.ts'
import { withNames } from '../records/names.ts'
import { boardAbout } from './deal-abouts.ts'
import { inTurn, type ServedDatabase } from './records.ts'
import { fieldsOf } from './request.ts'
import type { AccountRoute, Handler } from './route.ts'

export function boardRoute(db: ServedDatabase): AccountRoute {
  const url = '/rest/api/v1/deal/view/board'
  return { method: 'GET', url, scope: 'deal:read', handler: boardHandler(db), about: boardAbout }
}

/** The board of a pipeline. Its stages have names, for which one needs the scopes (D65). */
function boardHandler(db: ServedDatabase): Handler {
  return async request => {
    const { caller, query, now } = request
    const fields = fieldsOf(request, 'deal')
    needNames(caller.rights, namedByStages(fields))
    const asked = await withNames(db, caller, names =>
      readBoardQuery(query, fields, caller.catalog, now.toISOString(), names),
    )
    const { pipeline, list } = asked
    needNames(caller.rights, list.expand, list)
    const lanes = await boardLanes(inTurn(db, request), fields, caller, asked)
    const { account, currencies } = caller.catalog
    const { id, code } = currencies.get(account.base_currency)!
    const head = {
      pipeline: pipeline && { id: pipeline.id, name: pipeline.name },
      currency: { id, code },
    }
    const stages = lanes.map(({ stage, page }, index) => {
      const { records, hasMore, nextCursor } = page
      const around: JsonObject = { ...stage, hasMore, nextCursor }
      const before = `${index ? ',' : ''}${opened(around)},"records":[`
      return [Buffer.from(before), ...records, Buffer.from(']}')]
    })
    const meta = JSON.stringify({ pageSize: list.pageSize })
    // Records pass through as the bytes that the database sent.
    const body = [
      Buffer.from(`{"code":0,"data":${opened(head)},"stages":[`),
      ...stages.flat(),
      Buffer.from(`]},"meta":${meta}}`),
    ]
    return { status: 200, body }
  }
}

/** The JSON of an object, to which members may be added. */
function opened(object: JsonObject): string {
  return JSON.stringify(object).slice(0, -1)
}
