/** Far longer than anything takes on a busy machine. A wait for what never comes fails by name after it. */
const limitMs = 3 * 60_000

/** Asks until `look` finds something, which is the result. `what`: what is awaited, for the error. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  what: string,
  everyMs = 10,
): Promise<NonNullable<T>> {
  for (const end = performance.now() + limitMs; performance.now() < end; ) {
    const found = await look()
    if (found) return found
    await new Promise(resolve => setTimeout(resolve, everyMs))
  }
  throw new Error(`It did not come to ${what}.`)
}

/**
 * The answer to a request that the service refuses with "try again" for as long as its database is slow: asks
 * again, as its clients do. `ask` sends one that may be sent twice.
 */
export function answered<T extends { readonly status: number }>(ask: () => Promise<T>): Promise<T> {
  return eventually(
    async () => {
      const reply = await ask()
      return reply.status === 503 ? null : reply
    },
    'an answer other than 503',
    200,
  )
}
