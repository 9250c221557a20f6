/**
 * GET /openapi.json (D90): the document of the caller's account with the routes that their scopes allow; to
 * whoever sends no token, that of the service. It is made when it is first asked for.
 */
import type { Caller } from '../accounts/callers.ts'
import { madeOnce } from '../made-once.ts'
import type { DescribedRoute } from '../openapi/about.ts'
import { baseCatalog, openApi } from '../openapi/document.ts'
import { allows } from '../rights/scopes.ts'
import type { Answer } from './answer.ts'
import { readParameters } from './parameters.ts'
import type { GuestHandler } from './routes.ts'

/** How many documents are kept of a catalog as a role sees it: tokens may have any scopes. */
const keptMax = 4

/** `routes` answers the whole table, of which the route of the document is a part. */
export function openApiHandler(routes: () => readonly DescribedRoute[]): GuestHandler {
  const documents = madeOnce((_catalog: Caller['catalog']) => new Map<string, Buffer>())
  return async ({ caller, query }): Promise<Answer> => {
    readParameters(query, [], [])
    const catalog = caller?.catalog ?? baseCatalog
    const known = documents(catalog)
    const key = caller ? [...caller.rights.scopes].sort().join() : ''
    let body = known.get(key)
    if (!body) {
      const open = ['any', 'public']
      const allowed = ({ scope }: DescribedRoute) =>
        !caller || open.includes(scope) || allows(caller.rights.scopes, scope)
      body = Buffer.from(JSON.stringify(openApi(catalog, routes().filter(allowed))))
      if (known.size >= keptMax) known.clear()
      known.set(key, body)
    }
    return { status: 200, body }
  }
}
