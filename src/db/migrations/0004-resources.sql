-- Contacts, companies, users, territories, tags, pipelines, stages and currencies become resources like deals and products: with their
-- text (records/document.ts), metadata and custom fields. What is there already gets its text from its columns.

ALTER TABLE contact ADD COLUMN document text;
ALTER TABLE company ADD COLUMN document text;
ALTER TABLE "user" ADD COLUMN document text;
ALTER TABLE territory ADD COLUMN document text, ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}', ADD COLUMN custom jsonb NOT NULL DEFAULT '{}';
ALTER TABLE tag ADD COLUMN document text, ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}', ADD COLUMN custom jsonb NOT NULL DEFAULT '{}';

UPDATE contact r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object(
    'first_name', first_name, 'last_name', last_name, 'job_title', job_title, 'company', company, 'emails', emails, 'phones', phones,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM contact) x
  WHERE r.account_id = x.account_id AND r.id = x.id;
UPDATE company r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object(
    'name', name, 'website', website, 'phones', phones, 'address', address,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM company) x
  WHERE r.account_id = x.account_id AND r.id = x.id;
UPDATE "user" r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object(
    'name', name, 'email', email,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM "user") x
  WHERE r.account_id = x.account_id AND r.id = x.id;
UPDATE territory r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object('name', name,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM territory) x
  WHERE r.account_id = x.account_id AND r.id = x.id;
UPDATE tag r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object('name', name,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM tag) x
  WHERE r.account_id = x.account_id AND r.id = x.id;

ALTER TABLE contact ALTER document SET NOT NULL;
ALTER TABLE company ALTER document SET NOT NULL;
ALTER TABLE "user" ALTER document SET NOT NULL;
ALTER TABLE territory ALTER document SET NOT NULL;
ALTER TABLE tag ALTER document SET NOT NULL;

-- A name that is shown in lists of choices is there once. Deleted records give theirs up (D9).
CREATE UNIQUE INDEX territory_name ON territory (account_id, lower(name)) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX tag_name ON tag (account_id, lower(name)) WHERE deleted_at IS NULL;

-- Lists and words, as for deals (0002). Deals are found by the records around them when those are to be deleted.
CREATE INDEX contact_live ON contact (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX contact_last_name ON contact (account_id, lower(last_name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX contact_last_name_trigram ON contact USING gin (lower(last_name) gin_trgm_ops);
CREATE INDEX contact_custom ON contact USING gin (custom jsonb_path_ops);
CREATE INDEX company_live ON company (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX company_name ON company (account_id, lower(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX company_name_trigram ON company USING gin (lower(name) gin_trgm_ops);
CREATE INDEX company_custom ON company USING gin (custom jsonb_path_ops);

-- Pipelines, stages and currencies. Yes and no are options 1 and 2, as everywhere; a stage's kind has the numbers of a deal's status.
ALTER TABLE pipeline ADD COLUMN document text, ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}', ADD COLUMN custom jsonb NOT NULL DEFAULT '{}',
  ALTER COLUMN is_default DROP DEFAULT,
  ALTER COLUMN is_default TYPE smallint USING CASE WHEN is_default THEN 1 ELSE 2 END;
ALTER TABLE pipeline_stage DROP CONSTRAINT pipeline_stage_kind_check;
ALTER TABLE pipeline_stage ADD COLUMN document text, ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}', ADD COLUMN custom jsonb NOT NULL DEFAULT '{}',
  ALTER COLUMN kind TYPE smallint USING CASE kind WHEN 'open' THEN 1 WHEN 'won' THEN 2 ELSE 3 END;
ALTER TABLE currency ADD COLUMN document text, ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}', ADD COLUMN custom jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN version int NOT NULL DEFAULT 1, ADD COLUMN created_at timestamptz NOT NULL DEFAULT now(),
  ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(), ADD COLUMN created_by bigint, ADD COLUMN updated_by bigint,
  ADD COLUMN deleted_at timestamptz,
  ALTER COLUMN is_active DROP DEFAULT,
  ALTER COLUMN is_active TYPE smallint USING CASE WHEN is_active THEN 1 ELSE 2 END;

UPDATE pipeline r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object(
    'name', name, 'position', position, 'is_default', is_default,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM pipeline) x
  WHERE r.account_id = x.account_id AND r.id = x.id;
UPDATE pipeline_stage r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object(
    'pipeline', pipeline, 'name', name, 'position', position, 'kind', kind, 'probability', probability, 'rotting_days', rotting_days,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM pipeline_stage) x
  WHERE r.account_id = x.account_id AND r.id = x.id;
UPDATE currency r SET document = substr(x.t, 2, length(x.t) - 2) FROM (SELECT account_id, id, json_build_object(
    'code', code, 'name', name, 'symbol', symbol, 'decimals', decimals, 'rate', rate, 'is_active', is_active,
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', metadata)::text AS t FROM currency) x
  WHERE r.account_id = x.account_id AND r.id = x.id;
ALTER TABLE pipeline ALTER document SET NOT NULL;
ALTER TABLE pipeline_stage ALTER document SET NOT NULL;
ALTER TABLE currency ALTER document SET NOT NULL;
CREATE UNIQUE INDEX pipeline_name ON pipeline (account_id, lower(name)) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX stage_name ON pipeline_stage (account_id, pipeline, lower(name)) WHERE deleted_at IS NULL;

-- What follows from a stage or a rate changes without a write of the record: it leaves the text and is shown from its columns.
UPDATE deal SET document = regexp_replace(regexp_replace(regexp_replace(document,
  '"weighted_value":(\{[^{}]*\}|null),', ''), '"stage_probability":[0-9]+,', ''), '"deal_value_in_base_currency":(\{[^{}]*\}|null),', '');
UPDATE product SET document = regexp_replace(document, '"base_currency_amount":(\{[^{}]*\}|null),', '');

-- Sums by stage without looking at the records (deals/aggregate.ts).
CREATE INDEX deal_sums ON deal (account_id, pipeline_stage, deal_value_currency)
  INCLUDE (deal_value_value, weighted_value_value, deal_value_in_base_currency_value, stage_probability) WHERE deleted_at IS NULL;
