/** The schemas of sign-in: its body, sessions, and one-time links (D61). Data only. */
import type { Schema } from '../../fields/field.ts'
import { closedObject, openObject, orNull } from '../../fields/kinds/schemas.ts'

const text = { type: 'string' }
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
