/** GET /search (D86). It needs no scope of its own: results are limited to what the caller may read. */
import type { Database } from '../../db/open.ts'
import { arrayOf, openObject, schemaRef } from '../../fields/kinds/schemas.ts'
import { readSearchQuery, search, searchable } from '../../lists/search/search.ts'
import { allows } from '../../rights/scopes.ts'
import { okAnswer } from '../answer.ts'
import { envelope, ok } from '../openapi/operation.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { preferReplica } from './record-reads.ts'

export function searchRoute(db: Database): AccountRoute {
  const meta = openObject({ pageSize: { type: 'integer' }, hasMore: { type: 'boolean' } })
  const hits = arrayOf(schemaRef('search_hit'))
  return route('GET', `${base}/search`, 'any', searchHandler(db), {
    ...{ id: 'search', summary: 'Searches deals, contacts, companies and products.', tag: 'search' },
    description:
      'It looks in titles, names, e-mails, phone numbers and product codes. Lists look in all fields.',
    parameters: ['known_seq', 'q', 'searched', 'search_size'],
    responses: [ok('What was found, the best first.', envelope(hits, meta, true))],
    errors: ['malformed_request'],
  })
}

function searchHandler(db: Database): Handler {
  return async request => {
    const { catalog, rights } = request.caller
    const asked = readSearchQuery(request.query, searchable(catalog.resources))
    const resources = asked.resources.filter(name => allows(rights.scopes, `${name}:read`))
    const reader = preferReplica(db, request)
    const { hits, hasMore } = await search(reader, request.caller, { ...asked, resources })
    return okAnswer(JSON.stringify(hits), { pageSize: asked.pageSize, hasMore })
  }
}
