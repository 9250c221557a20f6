/**
 * The schemas of single parts of the service, in one list: their names in the OpenAPI document, and so in the
 * types of clients (D90, D139). A schema without a name there needs no line here.
 */
import {
  callerSchema,
  linkSchema,
  ownSettingsSchema,
  sessionSchema,
  settingsInputSchema,
  settingsMetaSchema,
  settingsSchema,
  signInSchema,
} from '../../accounts/schemas.ts'
import type { Schema } from '../../fields/field.ts'
import { eventSchema, feedEventSchema, namedOrGoneSchema } from '../../history/schemas.ts'
import { inboxItemSchema, inboxMetaSchema, inboxSettingsSchema, personSchema } from '../../inbox/schemas.ts'
import { hitSchema } from '../../lists/search/search.ts'
import { reports } from '../../resources/reports.ts'
import { deliverySchema } from '../../resources/webhook.ts'
import { jobSchema } from '../../work/jobs/schemas.ts'
import { cursorPageMeta } from './operation.ts'

export const ownSchemas: { readonly [name: string]: Schema } = {
  ...Object.assign({}, ...reports.map(({ schemas }) => schemas)),
  job: jobSchema,
  job_page: cursorPageMeta,
  named_or_gone: namedOrGoneSchema,
  delivery: deliverySchema,
  event: eventSchema,
  feed_event: feedEventSchema,
  search_hit: hitSchema,
  inbox_item: inboxItemSchema,
  inbox_meta: inboxMetaSchema,
  inbox_settings: inboxSettingsSchema,
  person: personSchema,
  caller: callerSchema,
  account_settings: settingsSchema,
  account_input: settingsInputSchema,
  account_meta: settingsMetaSchema,
  own_settings: ownSettingsSchema,
  session: sessionSchema,
  link: linkSchema,
  sign_in: signInSchema,
}
