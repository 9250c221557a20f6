/** Timeouts of a database, so long that a machine which is busy with other things fails no test and no bench. */
export const timeouts = (ms = 60_000) => ({ statementTimeoutMs: ms, waitMs: ms, yieldsAfterMs: ms })
