/** Options of the databases of tests and benches. */

/**
 * Timeouts so long that none fails because the machine is busy. With TEST_WRITES=transaction every write is
 * a transaction (D164).
 */
export const timeouts = (ms = 60_000) => ({
  ...{ statementTimeoutMs: ms, waitMs: ms, yieldsAfterMs: ms, silenceMs: ms },
  hasOnlyTransactions: process.env.TEST_WRITES === 'transaction',
})
