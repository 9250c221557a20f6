-- Case is folded one way on every server (D126). What lower() does depends on PostgreSQL's version, its libraries and the database's
-- locale. So fold() is lower() of that collation of the server which comes nearest to the table of src/fold.ts, with its differences mended.
DO $migration$
DECLARE
  table_of_letters text := '
    41-5a:32 c0-d6:32 d8-de:32 100-12e/2:1 130:-199 132-136/2:1 139-147/2:1 14a-176/2:1 178:-121 179-17d/2:1
    181:210 182-184/2:1 186:206 187:1 189-18a:205 18b:1 18e:79 18f:202 190:203 191:1 193:205 194:207 196:211
    197:209 198:1 19c:211 19d:213 19f:214 1a0-1a4/2:1 1a6:218 1a7:1 1a9:218 1ac:1 1ae:218 1af:1 1b1-1b2:217
    1b3-1b5/2:1 1b7:219 1b8:1 1bc:1 1c4:2 1c5:1 1c7:2 1c8:1 1ca:2 1cb-1db/2:1 1de-1ee/2:1 1f1:2 1f2-1f4/2:1
    1f6:-97 1f7:-56 1f8-21e/2:1 220:-130 222-232/2:1 23a:10795 23b:1 23d:-163 23e:10792 241:1 243:-195 244:69
    245:71 246-24e/2:1 370-372/2:1 376:1 37f:116 386:38 388-38a:37 38c:64 38e-38f:63 391-3a1:32 3a3-3ab:32
    3c2:1 3cf:8 3d8-3ee/2:1 3f4:-60 3f7:1 3f9:-7 3fa:1 3fd-3ff:-130 400-40f:80 410-42f:32 460-480/2:1
    48a-4be/2:1 4c0:15 4c1-4cd/2:1 4d0-52e/2:1 531-556:48 10a0-10c5:7264 10c7:7264 10cd:7264 13a0-13ef:38864
    13f0-13f5:8 1c89:1 1c90-1cba:-3008 1cbd-1cbf:-3008 1e00-1e94/2:1 1e9e:-7615 1ea0-1efe/2:1 1f08-1f0f:-8
    1f18-1f1d:-8 1f28-1f2f:-8 1f38-1f3f:-8 1f48-1f4d:-8 1f59-1f5f/2:-8 1f68-1f6f:-8 1f88-1f8f:-8 1f98-1f9f:-8
    1fa8-1faf:-8 1fb8-1fb9:-8 1fba-1fbb:-74 1fbc:-9 1fc8-1fcb:-86 1fcc:-9 1fd8-1fd9:-8 1fda-1fdb:-100
    1fe8-1fe9:-8 1fea-1feb:-112 1fec:-7 1ff8-1ff9:-128 1ffa-1ffb:-126 1ffc:-9 2126:-7517 212a:-8383 212b:-8262
    2132:28 2160-216f:16 2183:1 24b6-24cf:26 2c00-2c2f:48 2c60:1 2c62:-10743 2c63:-3814 2c64:-10727
    2c67-2c6b/2:1 2c6d:-10780 2c6e:-10749 2c6f:-10783 2c70:-10782 2c72:1 2c75:1 2c7e-2c7f:-10815 2c80-2ce2/2:1
    2ceb-2ced/2:1 2cf2:1 a640-a66c/2:1 a680-a69a/2:1 a722-a72e/2:1 a732-a76e/2:1 a779-a77b/2:1 a77d:-35332
    a77e-a786/2:1 a78b:1 a78d:-42280 a790-a792/2:1 a796-a7a8/2:1 a7aa:-42308 a7ab:-42319 a7ac:-42315
    a7ad:-42305 a7ae:-42308 a7b0:-42258 a7b1:-42282 a7b2:-42261 a7b3:928 a7b4-a7c2/2:1 a7c4:-48 a7c5:-42307
    a7c6:-35384 a7c7-a7c9/2:1 a7cb:-42343 a7cc-a7da/2:1 a7dc:-42561 a7f5:1 ff21-ff3a:32 10400-10427:40
    104b0-104d3:40 10570-1057a:39 1057c-1058a:39 1058c-10592:39 10594-10595:39 10c80-10cb2:64 10d50-10d65:32
    118a0-118bf:32 16e40-16e5f:32 16ea0-16eb8:27 1e900-1e921:34
';
  large text[];
  small text[];
  tried text;
  differing text;
  mended text;
  is_stable boolean;
  nearest text;
  nearest_differing text;
  nearest_mended text;
BEGIN
  SELECT array_agg(chr(letter)), array_agg(chr(letter + distance)) INTO large, small
  FROM regexp_matches(table_of_letters, '([0-9a-f]+)(?:-([0-9a-f]+))?(?:/(\d))?:(-?\d+)', 'g') run,
    LATERAL (SELECT ('x' || lpad(run[1], 8, '0'))::bit(32)::int AS first, ('x' || lpad(coalesce(run[2], run[1]), 8, '0'))::bit(32)::int AS last,
      coalesce(run[3], '1')::int AS step, run[4]::int AS distance) r,
    LATERAL generate_series(first, last, step) letter;

  -- "C" is the last resort: it knows a to z only, so that mending it takes a tenth of a millisecond for each text with other letters.
  FOR tried IN
    SELECT c.collname FROM unnest(ARRAY['pg_c_utf8', 'C.utf8', 'C.UTF-8', 'en_US.utf8', 'default', 'und-x-icu', 'C']) WITH ORDINALITY known (name, place)
    JOIN pg_collation c ON c.collname = known.name AND c.collnamespace = 'pg_catalog'::regnamespace
      AND c.collencoding IN (-1, pg_char_to_encoding('UTF8'))
    ORDER BY known.place
  LOOP
    -- Each letter stands between two others, as some collations look at those too: at the end of a word, before an accent.
    EXECUTE format($try$
      SELECT coalesce(string_agg(large, '') FILTER (WHERE lower(before || large || after COLLATE %1$I) <> before || small || after), ''),
        coalesce(string_agg(small, '') FILTER (WHERE lower(before || large || after COLLATE %1$I) <> before || small || after), ''),
        bool_and(lower(before || small || after COLLATE %1$I) = before || small || after)
      FROM unnest($1, $2) letter (large, small), (VALUES (chr(945), chr(768))) beside (before, after)
    $try$, tried) INTO differing, mended, is_stable USING large, small;
    IF is_stable AND (nearest IS NULL OR length(differing) < length(nearest_differing)) THEN
      nearest := tried;
      nearest_differing := differing;
      nearest_mended := mended;
    END IF;
  END LOOP;

  -- Most texts are ASCII, which lower() of "C" does quickest; and looking for the letters to mend takes a tenth of replacing them.
  EXECUTE format($fold$
    CREATE FUNCTION fold(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
      WHEN octet_length(given) = length(given) THEN lower(given COLLATE "C") COLLATE "C"
      WHEN given COLLATE "C" ~ %1$L THEN lower(translate(given, %2$L, %3$L) COLLATE %4$I) COLLATE "C"
      ELSE lower(given COLLATE %4$I) COLLATE "C" END
  $fold$, '[' || nearest_differing || ']', nearest_differing, nearest_mended, nearest);
END $migration$;

-- A name as it is compared: without blanks around it (those of JavaScript's trim), composed, in any case. src/fields/name.ts does the same.
CREATE FUNCTION compared_name(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN fold(normalize(btrim(given,
  U&'\0009\000A\000B\000C\000D \00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000\FEFF'), NFC));

DROP INDEX deal_title, deal_title_trigram, product_name, product_name_trigram, contact_last_name, contact_last_name_trigram,
  company_name, company_name_trigram;
CREATE INDEX deal_title ON deal (account_id, fold(title) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX deal_title_trigram ON deal USING gin (fold(title) gin_trgm_ops);
CREATE INDEX product_name ON product (account_id, fold(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX product_name_trigram ON product USING gin (fold(name) gin_trgm_ops);
CREATE INDEX contact_last_name ON contact (account_id, fold(last_name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX contact_last_name_trigram ON contact USING gin (fold(last_name) gin_trgm_ops);
CREATE INDEX company_name ON company (account_id, fold(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX company_name_trigram ON company USING gin (fold(name) gin_trgm_ops);
ALTER INDEX deal_title ALTER COLUMN 2 SET STATISTICS 500;
ALTER INDEX deal_title_trigram ALTER COLUMN 1 SET STATISTICS 500;
-- The planner knows nothing of new expressions until then.
ANALYZE deal, product, contact, company;

-- Those of custom texts are made anew by the upkeep of the next start.
DO $migration$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT indexname FROM pg_indexes
    WHERE schemaname = current_schema() AND indexname ~ '^custom_\d+_\d+$' AND indexdef LIKE '%lower(%'
  LOOP
    EXECUTE format('DROP INDEX %I', name);
  END LOOP;
END $migration$;

-- What is there once, in any spelling (D37, D127, D128). Where two are one now, the later one is marked so that people see it: "Name (2)". It
-- is a change like any other, by the service itself (actor 0). A restored backup may lack the indexes before (backup/load.ts).
DROP INDEX IF EXISTS territory_name, tag_name, pipeline_name, stage_name;
DO $migration$
DECLARE
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
BEGIN
  FOR kind IN
    SELECT * FROM (VALUES
      ('territory', 'territory_name', 'account_id', 'name', 255, ' (%s)'),
      ('tag', 'tag_name', 'account_id', 'name', 255, ' (%s)'),
      ('pipeline', 'pipeline_name', 'account_id', 'name', 255, ' (%s)'),
      ('pipeline_stage', 'stage_name', 'pipeline', 'name', 255, ' (%s)'),
      -- An address that nobody has: one that somebody may have would be worse than none.
      ('user', 'user_email', 'account_id', 'email', 320, '.%s.invalid')) k (resource, index_name, scope, member, longest, marked)
  LOOP
    EXECUTE format('CREATE INDEX comparing ON %I (account_id, compared_name(%I))', kind.resource, kind.member);
    FOR double IN EXECUTE format(
      'SELECT * FROM (SELECT account_id, id, %2$I AS given, %3$I AS scope,
         row_number() OVER (PARTITION BY account_id, %3$I, compared_name(%2$I) ORDER BY id) AS place
       FROM %1$I WHERE deleted_at IS NULL) r WHERE place > 1 ORDER BY account_id, id', kind.resource, kind.member, kind.scope)
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
END $migration$;
