/** The pages of the documentation, under /docs (D140). They are made when the first one is asked for. */
import { documentPages, type Page } from '../docs/pages.ts'
import { Refusal } from '../errors.ts'
import type { DescribedRoute } from '../openapi/about.ts'
import { baseCatalog, openApi } from '../openapi/document.ts'
import type { Answer } from './answer.ts'

/** What our own pages may load: each other alone. */
export const pageHeaders = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
}

/** `routes` answers the whole table, of which the routes of the pages are a part. */
export function docsHandler(routes: () => readonly DescribedRoute[]): (page: string) => Promise<Answer> {
  let pages: Promise<ReadonlyMap<string, Page>> | undefined
  return async name => {
    pages ??= openApi(baseCatalog, routes()).then(text => documentPages(JSON.parse(text)))
    const page = (await pages).get(name)
    if (!page) throw new Refusal('route_not_found', `There is no page ${name}: /docs lists them.`)
    return { status: 200, headers: { ...pageHeaders, 'content-type': page.type }, body: page.body }
  }
}
