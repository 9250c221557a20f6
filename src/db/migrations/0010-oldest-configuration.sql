-- The oldest configuration by which a write may have been judged (D115, records/write.ts). It stands with the account's lock, so that a write
-- that waits for it sees it as it is then.
ALTER TABLE counter ADD COLUMN oldest_version bigint NOT NULL DEFAULT 0;
