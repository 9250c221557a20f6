/** The schemas of the caller, of the settings of their account (D66, D141), and of sign-in (D61). Pure. */
import type { Schema } from '../fields/field.ts'
import { arrayOf, closedObject, openObject, orNull, schemaRef, text, whole } from '../fields/kinds/schemas.ts'

export const callerSchema: Schema = openObject({
  account: openObject({ id: whole, name: text, time_zone: text, locale: orNull(text), base_currency: whole }),
  user: openObject({
    ...{ id: whole, name: text, email: text, role: whole },
    time_zone: orNull(text),
    locale: orNull(text),
  }),
  scopes: arrayOf(text),
  follows_events: { type: 'boolean' },
  token: orNull(schemaRef('named')),
  session: orNull(openObject({ id: whole })),
})

export const settingsSchema: Schema = openObject({
  ...{ id: whole, name: text, time_zone: text, locale: orNull(text) },
  ...{ base_currency: whole, base_currency_code: text },
})

export const settingsInputSchema: Schema = closedObject({
  name: { type: 'string', minLength: 1, maxLength: 255 },
  time_zone: { type: 'string', description: 'Of the IANA list, such as Europe/Paris.' },
  locale: { type: ['string', 'null'], description: 'BCP 47; null: as each browser has it.' },
  base_currency: { type: ['integer', 'string'], description: 'The id or the code of a currency.' },
})

export const settingsMetaSchema: Schema = openObject(
  {
    recalculated: openObject({ rates: whole, open_deals: whole, closed_deals: whole, products: whole }),
    dryRun: { const: true, description: 'Nothing was saved.' },
  },
  [],
)

export const ownSettingsSchema: Schema = closedObject({ time_zone: orNull(text), locale: orNull(text) })

const secret = { type: 'string', minLength: 1 }
const moment = { type: 'string', format: 'date-time' }
const email = { type: 'string', minLength: 1, maxLength: 255, pattern: '\\S' }

/** By a password, or by a link. */
export const signInSchema: Schema = {
  anyOf: [
    closedObject({ email, password: secret, account: orNull({ type: 'integer' }) }, ['email', 'password']),
    closedObject({ link: secret, password: orNull(text) }, ['link']),
  ],
}

export const sessionSchema: Schema = openObject({
  id: { type: 'integer' },
  created_at: moment,
  last_used_at: moment,
  address: orNull(text),
  user_agent: orNull(text),
  is_current: { type: 'boolean' },
})

export const linkSchema: Schema = openObject({ link: orNull(text), url: orNull(text), expires_at: moment })
