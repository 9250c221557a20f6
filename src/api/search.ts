/** GET /search over HTTP (D86). It needs no scope of its own: it answers for what the caller may read. */
import { allows } from '../rights/scopes.ts'
import { readSearchQuery } from '../search/query.ts'
import { search, searchable } from '../search/search.ts'
import { success } from './answer.ts'
import { inTurn, type ServedDatabase } from './records.ts'
import type { Handler } from './route.ts'

export function searchHandler(db: ServedDatabase): Handler {
  return async request => {
    const { catalog, rights } = request.caller
    const asked = readSearchQuery(request.query, searchable(catalog.resources))
    const resources = asked.resources.filter(name => allows(rights.scopes, `${name}:read`))
    const { hits, hasMore } = await search(inTurn(db, request), request.caller, { ...asked, resources })
    return success(JSON.stringify(hits), { pageSize: asked.pageSize, hasMore })
  }
}
