-- Activities (D73): calls, meetings, tasks, e-mails and notes, about a deal, a contact or a company.
CREATE TABLE activity (
  account_id bigint NOT NULL,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  kind smallint NOT NULL,
  subject text NOT NULL,
  notes text,
  due_at timestamptz,
  -- minutes
  duration int,
  done_at timestamptz,
  outcome text,
  owner bigint,
  deal bigint,
  contact bigint,
  company bigint,
  document text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  deleted_by bigint,
  PRIMARY KEY (account_id, id),
  FOREIGN KEY (account_id, owner) REFERENCES "user",
  FOREIGN KEY (account_id, deal) REFERENCES deal,
  FOREIGN KEY (account_id, contact) REFERENCES contact,
  FOREIGN KEY (account_id, company) REFERENCES company
);
-- Lists and sorts, as for deals (0002).
CREATE INDEX activity_live ON activity (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX activity_deleted ON activity (account_id, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX activity_created_at ON activity (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX activity_updated_at ON activity (account_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX activity_due_at ON activity (account_id, due_at, id) WHERE deleted_at IS NULL;
CREATE INDEX activity_done_at ON activity (account_id, done_at, id) WHERE deleted_at IS NULL;
CREATE INDEX activity_kind ON activity (account_id, kind, id) WHERE deleted_at IS NULL;
-- What somebody has to do, the earliest first.
CREATE INDEX activity_owner_due_at ON activity (account_id, owner, due_at, id) WHERE deleted_at IS NULL;
-- What is one's own, for roles that see no more (rights/visibility.ts).
CREATE INDEX activity_own ON activity (account_id, coalesce(owner, created_by), id) WHERE deleted_at IS NULL;
CREATE INDEX activity_subject ON activity (account_id, fold(subject) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX activity_subject_trigram ON activity USING gin (fold(subject) gin_trgm_ops);
CREATE INDEX activity_custom ON activity USING gin (custom jsonb_path_ops);
CREATE INDEX activity_custom_emails ON activity USING gin (email_keys(jsonb_path_query_array(custom, '$.*[*]')) COLLATE "C")
  WHERE custom @? '$.*[*].email_value';
-- Whole, not for live records only: a foreign key is checked against all of them when what it points to is purged.
CREATE INDEX activity_owner ON activity (account_id, owner);
CREATE INDEX activity_deal ON activity (account_id, deal, id);
CREATE INDEX activity_contact ON activity (account_id, contact, id);
CREATE INDEX activity_company ON activity (account_id, company, id);

-- What follows from a deal's activities. It changes without a write of the deal: so it is shown from columns, not from the text.
ALTER TABLE deal
  ADD COLUMN done_activities int NOT NULL DEFAULT 0,
  ADD COLUMN upcoming_activities int NOT NULL DEFAULT 0,
  ADD COLUMN total_activities int NOT NULL DEFAULT 0,
  ADD COLUMN email_message_count int NOT NULL DEFAULT 0,
  ADD COLUMN last_activity_date date,
  ADD COLUMN next_activity_date date,
  ADD COLUMN last_activity_type text,
  ADD COLUMN recent_note text,
  -- when an activity was done last, to the millisecond: the deal rots from then on
  ADD COLUMN last_done_at timestamptz,
  -- when one of these columns changed last
  ADD COLUMN activities_moved_at timestamptz;
-- Where the text has them at its own level. A deal's metadata may have members of the same names, so the text is taken apart.
UPDATE deal SET document = (
  SELECT string_agg(concat(to_json(m.key), ':', m.value), ',' ORDER BY m.place)
  FROM json_each(concat('{', document, '}')::json) WITH ORDINALITY m (key, value, place)
  WHERE m.key NOT IN ('done_activities', 'upcoming_activities', 'total_activities', 'email_message_count', 'last_activity_date',
    'next_activity_date', 'last_activity_type', 'recent_note'));
CREATE INDEX deal_next_activity_date ON deal (account_id, next_activity_date, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_last_activity_date ON deal (account_id, last_activity_date, id) WHERE deleted_at IS NULL;

-- The roles that come with an account read activities where they read deals, write them where they write deals, and see and change of
-- them what they see and change of deals. It is a change like any other, by the service itself (actor 0).
WITH wanted AS (
  SELECT r.account_id, r.id, r.version + 1 AS version, r.scopes, r.visibility, r.may_change,
    r.scopes || CASE WHEN r.scopes ? 'deal:read' THEN '["activity:read"]' ELSE '[]' END::jsonb
      || CASE WHEN r.scopes ? 'deal:write' THEN '["activity:write"]' ELSE '[]' END::jsonb AS new_scopes,
    r.visibility || CASE WHEN r.visibility ? 'deal' THEN jsonb_build_object('activity', r.visibility -> 'deal') ELSE '{}' END AS new_visibility,
    r.may_change || CASE WHEN r.may_change ? 'deal' THEN jsonb_build_object('activity', r.may_change -> 'deal') ELSE '{}' END AS new_may_change,
    c.last_seq, greatest(c.last_at, date_trunc('milliseconds', now())) AS at
  FROM role r JOIN counter c ON c.account_id = r.account_id
  WHERE r.built_in IS NOT NULL AND r.deleted_at IS NULL AND NOT r.scopes ? 'admin'
),
changed AS (
  SELECT w.*, last_seq + row_number() OVER (PARTITION BY account_id ORDER BY id) AS seq FROM wanted w WHERE scopes <> new_scopes
),
roles AS (
  UPDATE role r SET version = n.version, scopes = n.new_scopes, visibility = n.new_visibility, may_change = n.new_may_change,
    updated_at = n.at, document = (
      SELECT string_agg(concat(to_json(m.key), ':', CASE m.key WHEN 'scopes' THEN n.new_scopes::text
          WHEN 'visibility' THEN n.new_visibility::text WHEN 'may_change' THEN n.new_may_change::text
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
SELECT n.account_id, n.seq, 'role.updated', 'role', n.id, n.version, 0, n.at, (
  SELECT jsonb_object_agg(m.name, jsonb_build_object('before', m.before, 'after', m.after))
  FROM (VALUES ('scopes', n.scopes, n.new_scopes), ('visibility', n.visibility, n.new_visibility),
    ('may_change', n.may_change, n.new_may_change)) m (name, before, after) WHERE m.before <> m.after)
FROM changed n;
-- What was found of roles before is out of date.
UPDATE account SET catalog_version = catalog_version + 1;
