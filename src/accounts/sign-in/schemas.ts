/** The schemas of sign-in: its body, sessions, and one-time links (D61). Data only. */
import type { Schema } from '../../fields/field.ts'
import { closed, opened, orNull } from '../../fields/kinds/schemas.ts'

const text = { type: 'string' }
const secret = { type: 'string', minLength: 1 }
const moment = { type: 'string', format: 'date-time' }
const email = { type: 'string', minLength: 1, maxLength: 255, pattern: '\\S' }

/** By a password, or by a link. */
export const signInSchema: Schema = {
  anyOf: [
    closed({ email, password: secret, account: orNull({ type: 'integer' }) }, ['email', 'password']),
    closed({ link: secret, password: orNull(text) }, ['link']),
  ],
}

export const sessionSchema: Schema = opened({
  id: { type: 'integer' },
  created_at: moment,
  last_used_at: moment,
  address: orNull(text),
  user_agent: orNull(text),
  is_current: { type: 'boolean' },
})

export const linkSchema: Schema = opened({ link: orNull(text), url: orNull(text), expires_at: moment })
