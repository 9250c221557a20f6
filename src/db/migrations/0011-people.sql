-- Roles, and what users sign in with (D61 to D66). Four roles come with every account, under ids that no other record of theirs has.
CREATE TABLE role (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  built_in text,
  scopes jsonb NOT NULL DEFAULT '[]',
  visibility jsonb NOT NULL DEFAULT '{}',
  may_change jsonb NOT NULL DEFAULT '{}',
  hidden_fields jsonb NOT NULL DEFAULT '[]',
  locked_fields jsonb NOT NULL DEFAULT '[]',
  document text NOT NULL,
  metadata jsonb NOT NULL DEFAULT '{}',
  custom jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  created_by bigint,
  updated_by bigint,
  deleted_at timestamptz,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX role_live ON role (account_id, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX role_name ON role (account_id, compared_name(name) COLLATE "C") WHERE deleted_at IS NULL;

INSERT INTO role (account_id, id, name, built_in, scopes, may_change, document, created_at, updated_at)
SELECT a.account_id, r.id, r.name, r.built_in, r.scopes, r.may_change,
  substr(x.document, 2, length(x.document) - 2), a.created_at, a.created_at
FROM account a,
  (VALUES
    (1, 'Administrator', 'administrator', '["admin"]'::jsonb, '{}'::jsonb),
    (2, 'Manager', 'manager',
      '["deal:read","deal:write","product:read","product:write","contact:read","contact:write",'
      '"company:read","company:write","territory:read","territory:write","tag:read","tag:write",'
      '"token:read","token:write","pipeline:read","pipeline_stage:read","currency:read","field:read",'
      '"user:read","role:read"]', '{}'),
    (3, 'Member', 'member',
      '["deal:read","deal:write","contact:read","contact:write","company:read","company:write",'
      '"tag:read","tag:write","token:read","token:write","product:read","territory:read",'
      '"pipeline:read","pipeline_stage:read","currency:read","field:read","user:read","role:read"]', '{"deal":"territory","contact":"territory","company":"territory"}'),
    (4, 'Read only', 'read_only',
      '["deal:read","product:read","contact:read","company:read","territory:read","tag:read",'
      '"token:read","pipeline:read","pipeline_stage:read","currency:read","field:read","user:read",'
      '"role:read"]', '{}')
  ) r (id, name, built_in, scopes, may_change),
  LATERAL (SELECT json_build_object('name', r.name, 'built_in', r.built_in, 'scopes', r.scopes, 'visibility', '{}'::json,
    'may_change', r.may_change, 'hidden_fields', '[]'::json, 'locked_fields', '[]'::json,
    'created_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', NULL, 'updated_by', NULL, 'metadata', '{}'::json)::text AS document) x;

-- Whoever has a valid token that administers, administers; everybody else is a member.
ALTER TABLE "user"
  ADD COLUMN role bigint NOT NULL DEFAULT 3,
  ADD COLUMN territories bigint[] NOT NULL DEFAULT '{}',
  ADD COLUMN is_active smallint NOT NULL DEFAULT 1,
  ADD COLUMN time_zone text,
  ADD COLUMN locale text;
UPDATE "user" u SET role = 1
WHERE EXISTS (
  SELECT 1 FROM token t WHERE t.account_id = u.account_id AND t.user_id = u.id AND 'admin' = ANY (t.scopes)
    AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now()));
-- An account without an administrator could not be administered any more: its first user becomes one.
UPDATE "user" u SET role = 1
WHERE u.id = (SELECT min(o.id) FROM "user" o WHERE o.account_id = u.account_id AND o.deleted_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM "user" o WHERE o.account_id = u.account_id AND o.role = 1 AND o.deleted_at IS NULL);
-- The first "created_at" of the text is its own: quotes within the texts before it are escaped.
UPDATE "user" SET document = regexp_replace(document, '"created_at" ?:',
  concat('"role":', role, ',"territories":[],"is_active":1,"time_zone":null,"locale":null,"created_at":'));
ALTER TABLE "user" ADD FOREIGN KEY (account_id, role) REFERENCES role;
CREATE INDEX user_role ON "user" (account_id, role);
-- Sign-in knows an address and not yet the account: the one look-up that goes over all accounts.
CREATE INDEX user_sign_in ON "user" (compared_name(email) COLLATE "C") WHERE deleted_at IS NULL;

-- Contacts and companies belong to a territory.
ALTER TABLE contact ADD COLUMN territory bigint, ADD FOREIGN KEY (account_id, territory) REFERENCES territory;
ALTER TABLE company ADD COLUMN territory bigint, ADD FOREIGN KEY (account_id, territory) REFERENCES territory;
UPDATE contact SET document = regexp_replace(document, '"created_at" ?:', '"territory":null,"created_at":');
UPDATE company SET document = regexp_replace(document, '"created_at" ?:', '"territory":null,"created_at":');
CREATE INDEX contact_territory ON contact (account_id, territory, id);
CREATE INDEX company_territory ON company (account_id, territory, id);
CREATE INDEX contact_created_by ON contact (account_id, created_by, id) WHERE deleted_at IS NULL;
CREATE INDEX company_created_by ON company (account_id, created_by, id) WHERE deleted_at IS NULL;

-- Tokens are records like others. Their secrets, of which only hashes are kept, stand beside them: after a rotation there are two.
CREATE TABLE token_secret (
  account_id bigint NOT NULL REFERENCES account,
  hash text NOT NULL,
  token bigint NOT NULL,
  -- null: as long as the token is
  valid_until timestamptz,
  PRIMARY KEY (account_id, hash)
);
INSERT INTO token_secret (account_id, hash, token) SELECT account_id, hash, id FROM token;
CREATE INDEX token_secret_token ON token_secret (account_id, token);
ALTER TABLE token RENAME COLUMN user_id TO "user";
ALTER TABLE token RENAME COLUMN revoked_at TO deleted_at;
ALTER TABLE token
  DROP COLUMN hash,
  ALTER COLUMN scopes TYPE jsonb USING to_jsonb(scopes),
  ADD COLUMN version int NOT NULL DEFAULT 1,
  ADD COLUMN prefix text,
  ADD COLUMN last_used_at timestamptz,
  ADD COLUMN document text,
  ADD COLUMN metadata jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN custom jsonb NOT NULL DEFAULT '{}',
  ADD COLUMN updated_at timestamptz,
  ADD COLUMN created_by bigint,
  ADD COLUMN updated_by bigint;
UPDATE token SET updated_at = created_at, created_by = "user", updated_by = "user";
UPDATE token t SET document = substr(x.document, 2, length(x.document) - 2)
FROM (SELECT account_id, id, json_build_object(
    'name', name, 'user', "user", 'scopes', scopes, 'prefix', prefix,
    'expires_at', to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_at', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'created_by', created_by, 'updated_by', updated_by, 'metadata', '{}'::json)::text AS document FROM token) x
WHERE t.account_id = x.account_id AND t.id = x.id;
ALTER TABLE token ALTER updated_at SET NOT NULL, ALTER document SET NOT NULL;
CREATE INDEX token_live ON token (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX token_of_user ON token (account_id, "user");

-- What a user signs in with: a password, of which only the hash is kept, and links that can be used once.
CREATE TABLE password (
  account_id bigint NOT NULL REFERENCES account,
  "user" bigint NOT NULL,
  hash text NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, "user"),
  FOREIGN KEY (account_id, "user") REFERENCES "user"
);
CREATE TABLE sign_in_link (
  account_id bigint NOT NULL REFERENCES account,
  hash text NOT NULL,
  "user" bigint NOT NULL,
  -- invitation, reset or sign_in
  purpose text NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  PRIMARY KEY (account_id, hash),
  FOREIGN KEY (account_id, "user") REFERENCES "user"
);
CREATE INDEX sign_in_link_of_user ON sign_in_link (account_id, "user");
CREATE TABLE session (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  hash text NOT NULL,
  "user" bigint NOT NULL,
  created_at timestamptz NOT NULL,
  last_used_at timestamptz NOT NULL,
  address text,
  user_agent text,
  PRIMARY KEY (account_id, id),
  UNIQUE (account_id, hash),
  FOREIGN KEY (account_id, "user") REFERENCES "user"
);
CREATE INDEX session_of_user ON session (account_id, "user");

-- A key is its sender's. Where all tokens of an account act for one user, those who sent the keys of the last day are known.
UPDATE idempotency i SET key = concat(t."user", ':', i.key)
FROM (SELECT account_id, min("user") AS "user" FROM token GROUP BY account_id HAVING min("user") = max("user")) t
WHERE t.account_id = i.account_id;

-- A deletion of an account is announced, and can be taken back for a while.
ALTER TABLE account ADD COLUMN deleted_at timestamptz;
-- What was found of roles before is out of date.
UPDATE account SET catalog_version = catalog_version + 1;
