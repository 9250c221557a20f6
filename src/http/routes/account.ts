/** `/account` over HTTP: the settings of the caller's account (D141). */
import { changeSettings, type SettingsChange, settingNames, settingsOf } from '../../accounts/settings.ts'
import type { Database } from '../../db/open.ts'
import { schemaRef } from '../../fields/kinds/schemas.ts'
import { oncePerKey } from '../../records/idempotency.ts'
import type { Transaction } from '../../records/store.ts'
import { okAnswer } from '../answer.ts'
import { dryRunParameter, envelope, ok } from '../openapi/operation.ts'
import { type ApiRequest, bodyOf, contextOf, knownMembersOf } from '../request.ts'
import { type AccountRoute, base, type Handler, route } from '../route.ts'
import { turnOf, withDryRun } from './dry-run.ts'

const tag = 'account'

/** `onConfigurationChange` is called after a committed change. */
export function accountRoutes(
  db: Database,
  onConfigurationChange: (account: number) => Promise<void>,
): AccountRoute[] {
  const get: Handler = async ({ caller }) => okAnswer(JSON.stringify(settingsOf(caller.catalog)))
  const { change } = withDryRun(
    db,
    (own, isDry) => ({
      change: async request => {
        const changed = isDry ? await changeOf(own, request) : await updateSettings(db, request)
        if (!isDry) await onConfigurationChange(request.caller.catalog.account.id)
        const { settings, recalculated } = changed
        return okAnswer(JSON.stringify(settings), recalculated && { recalculated })
      },
    }),
    unchanged => unchanged,
  )
  const path = `${base}/account`
  return [
    route('GET', path, 'any', get, {
      ...{ id: 'account_get', summary: 'Reads the settings of the account.', tag, errors: [] },
      responses: [ok('The settings.', envelope(schemaRef('account_settings')))],
    }),
    route('PATCH', path, 'admin', change, {
      ...{ id: 'account_update', summary: 'Changes the settings of the account.', tag },
      description:
        'What is not given stays as it is. With another base currency, all rates are converted by its rate, and ' +
        'amounts in the base currency are worked out anew. Try it with dry_run=1: meta.recalculated counts them.',
      parameters: dryRunParameter,
      body: { schema: schemaRef('account_input') },
      responses: [ok('The settings.', envelope(schemaRef('account_settings'), schemaRef('account_meta')))],
      errors: ['validation_failed', 'busy_record'],
    }),
  ]
}

/** Commits the change in a transaction of its own. */
function updateSettings(db: Database, request: ApiRequest): Promise<SettingsChange> {
  const act = async (tx: Transaction) => ({ commits: true, result: await changeOf(tx, request) })
  return db.transaction(turnOf(request), tx => oncePerKey(tx, contextOf(request), () => act(tx)))
}

function changeOf(tx: Transaction, request: ApiRequest): Promise<SettingsChange> {
  const settings = knownMembersOf(bodyOf(request), settingNames, 'Nothing was changed.')
  return changeSettings(tx, contextOf(request), settings)
}
