-- What a request with a key has done (D8, records/once.ts): the row its statement answered, and what the answer said besides.
DROP TABLE idempotency;
CREATE TABLE idempotency (
  account_id bigint NOT NULL,
  key text NOT NULL,
  request_hash text NOT NULL,
  answer text NOT NULL,
  told text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, key)
);
CREATE INDEX idempotency_created_at ON idempotency (account_id, created_at);

-- The history of a record: what a purge wipes (D9).
CREATE INDEX event_record ON event (account_id, record_id, seq);

-- The configuration up to which derived values, indexes and purges are done (administration/upkeep.ts).
ALTER TABLE account ADD COLUMN settled_version bigint NOT NULL DEFAULT 0;

-- Whole, not for live records only: a foreign key is checked against all of them when what it points to is purged.
DROP INDEX deal_primary_contact, deal_company, deal_territory, deal_stage_value;
CREATE INDEX deal_primary_contact ON deal (account_id, primary_contact, id);
CREATE INDEX deal_company ON deal (account_id, company, id);
CREATE INDEX deal_territory ON deal (account_id, territory, id);
CREATE INDEX deal_stage_value ON deal (account_id, pipeline_stage, deal_value_in_base_currency_value, id);
