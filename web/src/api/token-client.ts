/** The service's client by a token, in the place of the session. */
import { Dealwright } from '../../../client/src/client.ts'

export const tokenClient = (token: string): Dealwright =>
  new Dealwright({ url: location.origin, token, retries: 0, timeoutMs: 30_000 })
