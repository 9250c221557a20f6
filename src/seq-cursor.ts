/** The cursor of a list of events, the newest first: the `seq` before which the next page begins. */

export function seqCursorText(seq: number): string {
  return Buffer.from(String(seq)).toString('base64url')
}

/** Null for a text that is no such cursor. */
export function seqInCursor(cursor: string): number | null {
  const text = Buffer.from(cursor, 'base64url').toString()
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}
