-- What agents write (D148): by which protocol an event came, and the name that their program told.
ALTER TABLE event ADD COLUMN origin text, ADD COLUMN client text;
CREATE INDEX event_origin ON event (account_id, seq) WHERE origin IS NOT NULL;
CREATE INDEX event_origin_request ON event (account_id, request_id) WHERE origin IS NOT NULL;

-- Changes that agents were shown, by the hashes of their codes (D147). A code is good for minutes.
CREATE TABLE agent_change (
  account_id bigint NOT NULL REFERENCES account,
  hash text NOT NULL,
  token bigint NOT NULL,
  change text NOT NULL,
  valid_until timestamptz NOT NULL,
  PRIMARY KEY (account_id, hash)
);

-- The agent that uses a token: the name that its program tells, and when it last asked.
ALTER TABLE token ADD COLUMN agent text, ADD COLUMN agent_used_at timestamptz;
-- The host that vouches for the agent's name: that of the document by which it was connected (D170).
ALTER TABLE token ADD COLUMN agent_host text;

-- Codes that programs exchange for tokens, by their hashes, and what a person has allowed (D170).
CREATE TABLE oauth_code (
  account_id bigint NOT NULL REFERENCES account,
  hash text NOT NULL,
  "grant" jsonb NOT NULL,
  valid_until timestamptz NOT NULL,
  PRIMARY KEY (account_id, hash)
);
