-- Long work that somebody asked for (D84): imports and bulk changes. The process that carries one out holds it by a lease.
CREATE TABLE job (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  kind text NOT NULL,
  resource text NOT NULL,
  name text,
  state text NOT NULL,
  -- what is done now, or was done last: dry_run, run or revert
  phase text,
  -- whose it is
  actor bigint NOT NULL,
  -- as whom its phase is carried out: the user who began it, by what they asked, and what that allowed
  acts_as bigint NOT NULL,
  token bigint,
  session bigint,
  request_id text,
  scopes jsonb NOT NULL,
  -- what is to be done: mapping and duplicates of an import, filter and changes of a bulk change
  plan jsonb NOT NULL,
  -- of an import: the columns of its file
  columns jsonb,
  total bigint,
  -- how far the phase has come: the last row, id or seq that was looked at, and what became of them
  position bigint NOT NULL DEFAULT 0,
  done bigint NOT NULL DEFAULT 0,
  counts jsonb NOT NULL DEFAULT '{}',
  worked_ms bigint NOT NULL DEFAULT 0,
  -- phase -> its counts, of those that came to their end
  result jsonb NOT NULL DEFAULT '{}',
  error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  begun_at timestamptz,
  ended_at timestamptz,
  lease text,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (account_id, id)
);
CREATE INDEX job_to_do ON job (account_id, leased_until) WHERE state = 'running';

-- The rows of a file that is imported: a JSON array of rows, the first of which is row number "first".
CREATE TABLE import_rows (
  account_id bigint NOT NULL,
  job bigint NOT NULL,
  first bigint NOT NULL,
  rows text NOT NULL,
  PRIMARY KEY (account_id, job, first),
  FOREIGN KEY (account_id, job) REFERENCES job
);

-- What was refused in a phase of a job: of a row, a record or an event, by its number.
CREATE TABLE job_problem (
  account_id bigint NOT NULL,
  job bigint NOT NULL,
  phase text NOT NULL,
  place bigint NOT NULL,
  problems jsonb NOT NULL,
  PRIMARY KEY (account_id, job, phase, place),
  FOREIGN KEY (account_id, job) REFERENCES job
);

-- By which job an event came; so a job can be taken back (D83).
ALTER TABLE event ADD COLUMN job bigint;
CREATE INDEX event_job ON event (account_id, job, seq) WHERE job IS NOT NULL;

-- The roles that come with an account may have jobs, and managers import. It is a change like any other, by the service itself
-- (actor 0).
WITH wanted AS (
  SELECT r.account_id, r.id, r.version + 1 AS version, r.scopes, r.scopes || CASE r.built_in
      WHEN 'manager' THEN '["job:read","job:write","import:write"]' WHEN 'member' THEN '["job:read","job:write"]'
      ELSE '["job:read"]' END::jsonb AS new_scopes,
    c.last_seq, greatest(c.last_at, date_trunc('milliseconds', now())) AS at
  FROM role r JOIN counter c ON c.account_id = r.account_id
  WHERE r.built_in IS NOT NULL AND r.deleted_at IS NULL AND NOT r.scopes ? 'admin' AND NOT r.scopes ?| ARRAY['job:read', 'job:write', 'import:write']
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
