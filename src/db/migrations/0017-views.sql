-- Saved views (D130): a filter, an order and columns under a name.
CREATE TABLE "view" (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  source smallint NOT NULL,
  mode smallint NOT NULL,
  filter text,
  sort text,
  columns jsonb NOT NULL DEFAULT '[]',
  -- no reference: a view does not keep a pipeline from being deleted
  pipeline bigint,
  is_shared smallint NOT NULL,
  position int,
  document text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  deleted_by bigint,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX view_live ON "view" (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX view_created_by ON "view" (account_id, created_by, id) WHERE deleted_at IS NULL;

-- The roles that come with an account may have views: whoever looks at records keeps how they look at them. It is a change like any
-- other, by the service itself (actor 0).
WITH wanted AS (
  SELECT r.account_id, r.id, r.version + 1 AS version, r.scopes, r.scopes || '["view:read","view:write"]'::jsonb AS new_scopes,
    c.last_seq, greatest(c.last_at, date_trunc('milliseconds', now())) AS at
  FROM role r JOIN counter c ON c.account_id = r.account_id
  WHERE r.built_in IS NOT NULL AND r.deleted_at IS NULL AND NOT r.scopes ? 'admin' AND NOT r.scopes ?| ARRAY['view:read', 'view:write']
),
changed AS (
  SELECT w.*, last_seq + row_number() OVER (PARTITION BY account_id ORDER BY id) AS seq FROM wanted w
),
roles AS (
  UPDATE role r SET version = n.version, scopes = n.new_scopes, updated_at = n.at, document = (
      SELECT string_agg(concat(to_json(m.key), ':', CASE m.key WHEN 'scopes' THEN n.new_scopes::text
          WHEN 'updated_at' THEN to_json(to_char(n.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text
          ELSE m.value::text END), ',' ORDER BY m.place)
      FROM json_each(concat('{', r.document, '}')::json) WITH ORDINALITY m (key, value, place))
  FROM changed n WHERE r.account_id = n.account_id AND r.id = n.id
),
counters AS (
  UPDATE counter c SET last_seq = n.seq, last_at = n.at
  FROM (SELECT account_id, max(seq) AS seq, max(at) AS at FROM changed GROUP BY account_id) n WHERE c.account_id = n.account_id
)
INSERT INTO event (account_id, seq, type, resource, record_id, version, actor, at, changes)
SELECT n.account_id, n.seq, 'role.updated', 'role', n.id, n.version, 0, n.at,
  jsonb_build_object('scopes', jsonb_build_object('before', n.scopes, 'after', n.new_scopes))
FROM changed n;
-- What was found of roles before is out of date.
UPDATE account SET catalog_version = catalog_version + 1;
