/** The schemas of events in histories and the feed (D69, D70). Data only. */
import type { Schema } from '../fields/field.ts'
import { anyObject, arrayOf, openObject, orNull, schemaRef, text, whole } from '../fields/kinds/schemas.ts'

const members = {
  ...{ seq: whole, type: text, also: arrayOf(text) },
  ...{ at: { type: 'string', format: 'date-time' }, resource: text, id: whole, version: whole },
  actor: openObject(
    {
      ...{ id: orNull(whole), name: orNull(text), token: schemaRef('named_or_gone') },
      ...{ job: openObject({ id: whole }), request_id: orNull(text) },
      ...{ origin: { enum: ['mcp'], description: 'Set if an agent wrote it.' }, client: orNull(text) },
    },
    ['id', 'name', 'request_id'],
  ),
  changes: arrayOf(
    openObject({ field: text, label: text, from: {}, to: {}, from_name: {}, to_name: {} }, [
      ...['field', 'label', 'from', 'to'],
    ]),
  ),
}

export const eventSchema: Schema = openObject(members)

/** An event of the feed, with its record if requested. */
export const feedEventSchema: Schema = openObject(
  { ...members, record: orNull(anyObject) },
  Object.keys(members),
)

/** A record that may have been deleted meanwhile. */
export const namedOrGoneSchema: Schema = openObject({ id: whole, name: orNull(text) })
