-- The moment of the account's last event: none comes before it (D123, records/write.ts).
ALTER TABLE counter ADD COLUMN last_at timestamptz NOT NULL DEFAULT '-infinity';
UPDATE counter c SET last_at = e.at FROM (SELECT account_id, max(at) AS at FROM event GROUP BY account_id) e WHERE c.account_id = e.account_id;
