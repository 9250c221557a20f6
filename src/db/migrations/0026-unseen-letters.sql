-- What nobody sees is no part of a name as it is compared (D127): "x", a zero width space and "y" are "xy". Control characters but for the
-- blanks among them, and what Unicode ignores by default. src/fields/name.ts does the same.
DO $migration$
DECLARE
  unseen text := '[\u0001-\u0008\u000e-\u001f\u007f-\u009f\u034f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]';
  at timestamptz := date_trunc('milliseconds', now());
  at_text text := to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
  kind record;
  double record;
  place int;
  mark text;
  wanted text;
  is_taken boolean;
  new_version int;
  seq bigint;
  is_there boolean;
BEGIN
  EXECUTE format($compared$
    CREATE OR REPLACE FUNCTION compared_name(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN fold(normalize(btrim(
      CASE WHEN given COLLATE "C" ~ %1$L THEN regexp_replace(given COLLATE "C", %1$L, '', 'g') ELSE given END,
      U&'\0009\000A\000B\000C\000D \00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000\FEFF'), NFC))
  $compared$, unseen);

  -- A session that knows an index goes on with the function as it was, until something of the index changes: here its name, and back.
  FOR kind IN SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema() AND indexdef ~ 'compared_name|email_keys' LOOP
    EXECUTE format('ALTER INDEX %I RENAME TO renamed', kind.name);
    EXECUTE format('ALTER INDEX renamed RENAME TO %I', kind.name);
  END LOOP;

  -- What is there once: where two are one now, the one with what nobody sees is marked, "Name (2)". It is a change like any other, by the
  -- service itself (actor 0). Without such names the indexes are as they were.
  FOR kind IN
    SELECT * FROM (VALUES
      ('territory', 'territory_name', 'account_id', 'name', 255, ' (%s)'),
      ('tag', 'tag_name', 'account_id', 'name', 255, ' (%s)'),
      ('pipeline', 'pipeline_name', 'account_id', 'name', 255, ' (%s)'),
      ('pipeline_stage', 'stage_name', 'pipeline', 'name', 255, ' (%s)'),
      ('role', 'role_name', 'account_id', 'name', 255, ' (%s)'),
      ('user', 'user_email', 'account_id', 'email', 320, '.%s.invalid')) k (resource, index_name, scope, member, longest, marked)
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE %I ~ $1)', kind.resource, kind.member) INTO is_there USING unseen;
    CONTINUE WHEN NOT is_there;
    EXECUTE format('DROP INDEX %I', kind.index_name);
    EXECUTE format('CREATE INDEX comparing ON %I (account_id, compared_name(%I))', kind.resource, kind.member);
    FOR double IN EXECUTE format(
      'SELECT * FROM (SELECT account_id, id, %2$I AS given, %3$I AS scope,
         row_number() OVER (PARTITION BY account_id, %3$I, compared_name(%2$I) ORDER BY %2$I ~ $1, id) AS place
       FROM %1$I WHERE deleted_at IS NULL) r WHERE place > 1 ORDER BY account_id, id', kind.resource, kind.member, kind.scope) USING unseen
    LOOP
      place := double.place;
      LOOP
        mark := format(kind.marked, place);
        wanted := left(btrim(double.given), kind.longest - length(mark)) || mark;
        EXECUTE format('SELECT EXISTS (SELECT FROM %1$I WHERE account_id = $1 AND %3$I = $2 AND compared_name(%2$I) = compared_name($3)
          AND deleted_at IS NULL)', kind.resource, kind.member, kind.scope)
          INTO is_taken USING double.account_id, double.scope, wanted;
        EXIT WHEN NOT is_taken;
        place := place + 1;
      END LOOP;
      EXECUTE format('UPDATE %1$I SET %2$I = $3, version = version + 1, updated_at = $4, document = (SELECT
          string_agg(to_json(key)::text || '':'' || CASE key WHEN %2$L THEN to_json($3)::text WHEN ''updated_at'' THEN to_json($5)::text ELSE value::text END, '','')
          FROM json_each((''{'' || document || ''}'')::json))
        WHERE account_id = $1 AND id = $2 RETURNING version', kind.resource, kind.member)
        INTO new_version USING double.account_id, double.id, wanted, at, at_text;
      UPDATE counter SET last_seq = last_seq + 1 WHERE account_id = double.account_id RETURNING last_seq INTO seq;
      UPDATE account SET catalog_version = catalog_version + 1 WHERE account_id = double.account_id;
      INSERT INTO event (account_id, seq, type, resource, record_id, version, actor, at, changes)
      VALUES (double.account_id, seq, kind.resource || '.updated', kind.resource, double.id, new_version, 0, at,
        json_build_object(kind.member, json_build_object('before', double.given, 'after', wanted)));
    END LOOP;
    DROP INDEX comparing;
    EXECUTE format('CREATE UNIQUE INDEX %I ON %I (%s, compared_name(%I) COLLATE "C") WHERE deleted_at IS NULL',
      kind.index_name, kind.resource, CASE kind.scope WHEN 'account_id' THEN 'account_id' ELSE 'account_id, ' || kind.scope END, kind.member);
  END LOOP;

  -- What finds names and e-mails is made anew where it has what nobody sees. JSON writes the controls of ASCII by their numbers.
  FOR kind IN
    SELECT * FROM (VALUES
      ('deal', ARRAY['deal_custom_emails']),
      ('product', ARRAY['product_compared_name', 'product_compared_code', 'product_custom_emails']),
      ('contact', ARRAY['contact_full_name', 'contact_emails', 'contact_custom_emails']),
      ('company', ARRAY['company_compared_name', 'company_custom_emails']),
      ('user', ARRAY['user_compared_name', 'user_sign_in'])) k (resource, indexes)
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %I WHERE document COLLATE "C" ~ $1)', kind.resource) INTO is_there
      USING unseen || '|\\u00[01]';
    IF is_there THEN
      FOR double IN SELECT unnest(kind.indexes) AS name LOOP
        EXECUTE format('REINDEX INDEX %I', double.name);
      END LOOP;
    END IF;
  END LOOP;

  -- Of two records with one value in a unique field (D76), the one that was without what nobody sees, or was first, keeps it.
  INSERT INTO unique_value (account_id, field, key, record)
  SELECT account_id, field, compared_name(key), record FROM unique_value WHERE key ~ unseen ORDER BY record
  ON CONFLICT DO NOTHING;
  DELETE FROM unique_value WHERE key ~ unseen;
END $migration$;
