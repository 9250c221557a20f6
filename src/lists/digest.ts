/** A short hash of texts: a cursor has that of its list, and caches take it for a key. */
import { hash } from 'node:crypto'

export function digestOf(texts: readonly (string | null)[]): string {
  return hash('sha256', JSON.stringify(texts), 'base64url').slice(0, 12)
}
