/** Every route of the service, written out (D38: each with its scope; start-up fails without one). */
import type { Directory } from '../accounts/directory.ts'
import type { Upkeep } from '../administration/upkeep.ts'
import type { Database } from '../db/open.ts'
import { errorsPage } from './answer.ts'
import { fieldHandlers } from './fields.ts'
import { dropdownValues, fieldList, form } from './metadata.ts'
import { type Handler, recordHandlers } from './records.ts'

export type Scope = 'public' | 'deal:read' | 'deal:write' | 'product:read' | 'product:write' | 'field:read' | 'field:write'

export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly scope: Scope
  readonly handler: Handler
}

export function routes(db: Database, directory: Directory, upkeep: Upkeep): readonly Route[] {
  const field = fieldHandlers(db, directory, upkeep)
  const deal = recordHandlers(db, 'deal')
  const product = recordHandlers(db, 'product')
  return [
    { method: 'POST', url: '/rest/api/v1/deal', scope: 'deal:write', handler: deal.create },
    { method: 'GET', url: '/rest/api/v1/deal/view/list', scope: 'deal:read', handler: deal.list },
    { method: 'POST', url: '/rest/api/v1/deal/view/list', scope: 'deal:read', handler: deal.search },
    { method: 'GET', url: '/rest/api/v1/deal/:id', scope: 'deal:read', handler: deal.get },
    { method: 'PUT', url: '/rest/api/v1/deal/:id', scope: 'deal:write', handler: deal.update },
    { method: 'PATCH', url: '/rest/api/v1/deal/:id', scope: 'deal:write', handler: deal.update },
    { method: 'DELETE', url: '/rest/api/v1/deal/:id', scope: 'deal:write', handler: deal.remove },

    { method: 'POST', url: '/rest/api/v1/product', scope: 'product:write', handler: product.create },
    { method: 'GET', url: '/rest/api/v1/product/view/list', scope: 'product:read', handler: product.list },
    { method: 'POST', url: '/rest/api/v1/product/view/list', scope: 'product:read', handler: product.search },
    { method: 'GET', url: '/rest/api/v1/product/:id', scope: 'product:read', handler: product.get },
    { method: 'PUT', url: '/rest/api/v1/product/:id', scope: 'product:write', handler: product.update },
    { method: 'PATCH', url: '/rest/api/v1/product/:id', scope: 'product:write', handler: product.update },
    { method: 'DELETE', url: '/rest/api/v1/product/:id', scope: 'product:write', handler: product.remove },

    { method: 'GET', url: '/rest/api/v1/field/list', scope: 'field:read', handler: fieldList },
    { method: 'GET', url: '/rest/api/v1/field/dropdown', scope: 'field:read', handler: dropdownValues(db) },

    { method: 'GET', url: '/rest/api/v1/field/form', scope: 'field:read', handler: form },
    { method: 'PUT', url: '/rest/api/v1/field/form', scope: 'field:write', handler: field.arrange },
    { method: 'POST', url: '/rest/api/v1/field', scope: 'field:write', handler: field.create },
    { method: 'GET', url: '/rest/api/v1/field/:id', scope: 'field:read', handler: field.get },
    { method: 'PUT', url: '/rest/api/v1/field/:id', scope: 'field:write', handler: field.update },
    { method: 'PATCH', url: '/rest/api/v1/field/:id', scope: 'field:write', handler: field.update },
    { method: 'DELETE', url: '/rest/api/v1/field/:id', scope: 'field:write', handler: field.remove },
    { method: 'POST', url: '/rest/api/v1/field/:id/restore', scope: 'field:write', handler: field.restore },
    { method: 'POST', url: '/rest/api/v1/field/:id/option', scope: 'field:write', handler: field.createOption },
    { method: 'PUT', url: '/rest/api/v1/field/:id/option/:option', scope: 'field:write', handler: field.updateOption },
    { method: 'PATCH', url: '/rest/api/v1/field/:id/option/:option', scope: 'field:write', handler: field.updateOption },
    { method: 'DELETE', url: '/rest/api/v1/field/:id/option/:option', scope: 'field:write', handler: field.removeOption },

    { method: 'GET', url: '/docs/errors', scope: 'public', handler: async () => errorsPage() },
    { method: 'GET', url: '/healthz', scope: 'public', handler: async () => ({ status: 200, body: '{"status":"alive"}' }) },
    {
      method: 'GET',
      url: '/readyz',
      scope: 'public',
      handler: async () =>
        (await db.ready()) ? { status: 200, body: '{"status":"ready"}' } : { status: 503, body: '{"status":"not ready"}' },
    },
  ]
}
