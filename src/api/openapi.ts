/**
 * GET /openapi.json (D90): the document of the caller's account with the routes that their scopes allow; to
 * whoever sends no token, that of the service. It is made when it is first asked for.
 */
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { Catalog } from '../fields/catalog.ts'
import { madeOnce } from '../made-once.ts'
import type { DescribedRoute } from '../openapi/about.ts'
import { baseCatalog, openApi } from '../openapi/document.ts'
import { allows } from '../rights/scopes.ts'
import { readParameters } from './parameters.ts'
import type { GuestHandler } from './route.ts'

const [compressed, plain] = [promisify(gzip), promisify(gunzip)]

/** How many documents are kept of a catalog as a role sees it, compressed: tokens may have any scopes. */
const keptMax = 4

/** `routes` answers the whole table, of which the route of the document is a part. */
export function openApiHandler(routes: () => readonly DescribedRoute[]): GuestHandler {
  const documents = madeOnce((_catalog: Catalog) => new Map<string, Promise<Buffer>>())
  const made = (catalog: Catalog, scopes: ReadonlySet<string> | null): Promise<Buffer> => {
    const known = documents(catalog)
    const key = [...(scopes ?? [])].sort().join()
    const kept = known.get(key)
    if (kept) return kept
    if (known.size >= keptMax) known.clear()
    const open = ['any', 'public']
    const allowed = routes().filter(({ scope }) => !scopes || open.includes(scope) || allows(scopes, scope))
    const making = openApi(catalog, allowed).then(compressed)
    known.set(key, making)
    return making
  }
  return async ({ caller, query }) => {
    readParameters(query, [], [])
    const document = await made(caller?.catalog ?? baseCatalog, caller?.rights.scopes ?? null)
    return { status: 200, body: await plain(document) }
  }
}
