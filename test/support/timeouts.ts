/** Database timeouts so long that no test and no bench fails because the machine is busy. */
export const timeouts = (ms = 60_000) => ({ statementTimeoutMs: ms, waitMs: ms, yieldsAfterMs: ms })
