-- Webhooks (D72): whom to tell of which events.
CREATE TABLE webhook (
  account_id bigint NOT NULL REFERENCES account,
  id bigint NOT NULL,
  version int NOT NULL DEFAULT 1,
  name text NOT NULL,
  url text NOT NULL,
  events jsonb NOT NULL DEFAULT '[]',
  filter text,
  is_active smallint NOT NULL DEFAULT 1,
  -- whose rights it has
  "user" bigint NOT NULL,
  disabled_reason text,
  rotated_at timestamptz,
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
  FOREIGN KEY (account_id, "user") REFERENCES "user"
);
CREATE INDEX webhook_live ON webhook (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX webhook_of_user ON webhook (account_id, "user");

-- What deliveries are signed with. A hash can't sign: these are the one kind of secret that is kept itself. During a rotation there are two.
CREATE TABLE webhook_secret (
  account_id bigint NOT NULL REFERENCES account,
  webhook bigint NOT NULL,
  -- the version of the webhook with which it was made
  version int NOT NULL,
  secret text NOT NULL,
  -- null: as long as the webhook is
  valid_until timestamptz,
  PRIMARY KEY (account_id, webhook, version)
);

-- How far a webhook has come: the last event that was looked at. A process that works for it holds it for some seconds at a time.
CREATE TABLE webhook_progress (
  account_id bigint NOT NULL REFERENCES account,
  webhook bigint NOT NULL,
  seq bigint NOT NULL,
  -- as in the webhook
  is_active boolean NOT NULL,
  -- when there is something to do again, besides new events
  next_at timestamptz,
  last_delivered_at timestamptz,
  failing_since timestamptz,
  last_error text,
  lease text,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  PRIMARY KEY (account_id, webhook)
) WITH (fillfactor = 50);
CREATE INDEX webhook_progress_next ON webhook_progress (next_at) WHERE next_at IS NOT NULL;

-- The deliveries of an event to a webhook: one row, however often it is sent. Of the events of a record that wait, the first that was not
-- tried has a time when it is due (next_at), and those that are tried again; the others have none until it is their turn.
CREATE TABLE webhook_delivery (
  account_id bigint NOT NULL,
  webhook bigint NOT NULL,
  seq bigint NOT NULL,
  type text NOT NULL,
  resource text NOT NULL,
  record bigint NOT NULL,
  -- waiting, delivered or dead
  state text NOT NULL,
  next_at timestamptz,
  -- since it was sent, or sent again, for the first time
  tries int NOT NULL DEFAULT 0,
  first_tried_at timestamptz,
  created_at timestamptz NOT NULL,
  -- of the last attempt
  status int,
  error text,
  duration_ms int,
  answer text,
  -- all attempts, or the last twenty: {at, status, error, duration_ms}
  attempts int NOT NULL DEFAULT 0,
  log jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (account_id, webhook, seq)
);
CREATE INDEX webhook_delivery_due ON webhook_delivery (account_id, webhook, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_delivery_waiting ON webhook_delivery (account_id, webhook, resource, record, seq) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_created ON webhook_delivery (account_id, created_at);

-- Whoever makes tokens makes webhooks; whoever reads reads them.
UPDATE role SET scopes = scopes || s.more,
  document = regexp_replace(document, '("scopes" ?: ?)\[[^]]*\]', concat('\1', scopes || s.more))
FROM (VALUES ('manager', '["webhook:read","webhook:write"]'::jsonb), ('member', '["webhook:read","webhook:write"]'),
  ('read_only', '["webhook:read"]')) s (built_in, more)
WHERE role.built_in = s.built_in;
UPDATE account SET catalog_version = catalog_version + 1;
