-- The inbox (D156). What a person is told of, by the record that it is about: no value of a record is copied. Of what is due, of deals
-- that rot and of failed jobs, which follow from their tables, a row only says what the person did with it.
CREATE TABLE notification (
  account_id bigint NOT NULL REFERENCES account,
  user_id bigint NOT NULL,
  -- the kind, and by what it came: so a thing is told once
  id text NOT NULL,
  kind text NOT NULL,
  resource text NOT NULL,
  record_id bigint NOT NULL,
  -- who did it; null: nobody
  actor bigint,
  -- how many records; the row refers to the first
  count int NOT NULL DEFAULT 1,
  at timestamptz NOT NULL,
  read_at timestamptz,
  snoozed_until timestamptz,
  PRIMARY KEY (account_id, user_id, id)
);
CREATE INDEX notification_list ON notification (account_id, user_id, at, id);
CREATE INDEX notification_at ON notification (account_id, at);

-- The last event that was looked at for the inboxes of an account.
CREATE TABLE inbox_progress (
  account_id bigint NOT NULL REFERENCES account,
  seq bigint NOT NULL,
  PRIMARY KEY (account_id)
) WITH (fillfactor = 50);
-- What happened before is told to nobody.
INSERT INTO inbox_progress (account_id, seq) SELECT account_id, last_seq FROM counter;

-- What a person wants to be told of, and when: kind -> its channels; absent kinds have the usual ones.
CREATE TABLE inbox_setting (
  account_id bigint NOT NULL REFERENCES account,
  user_id bigint NOT NULL,
  channels jsonb NOT NULL DEFAULT '{}',
  -- times of the person's day, 'HH:MM'; null: never
  quiet_from text,
  quiet_to text,
  PRIMARY KEY (account_id, user_id)
);

-- How many minutes before it is due an activity reminds its owner; null: it doesn't. The text has quotation marks of values escaped.
ALTER TABLE activity ADD COLUMN reminder int;
UPDATE activity SET document = regexp_replace(document, '("duration":(null|[0-9]+))', '\1,"reminder":null');
