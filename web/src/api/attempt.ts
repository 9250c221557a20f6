/** A write whose answer may be lost: sent again unchanged, it has the same key and is done once (D8). */
export type Attempt = {
  /** what it says: another text is another request */
  readonly said: string
  readonly key: string
}

export const attemptOf = (before: Attempt | null, said: string): Attempt =>
  before?.said === said ? before : { said, key: crypto.randomUUID() }
