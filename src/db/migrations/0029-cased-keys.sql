-- Unique texts that an account has compared with their case (D76): ids of some systems differ in nothing else. cased_name() is compared_name()
-- without the folding; casedName in src/fields/name.ts does the same.
DO $migration$
BEGIN
  EXECUTE format($cased$
    CREATE FUNCTION cased_name(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN normalize(btrim(
      CASE WHEN given COLLATE "C" ~ %1$L THEN regexp_replace(given COLLATE "C", %1$L, '', 'g') ELSE given END,
      U&'\0009\000A\000B\000C\000D \00A0\1680\2000\2001\2002\2003\2004\2005\2006\2007\2008\2009\200A\2028\2029\202F\205F\3000\FEFF'), NFC)
  $cased$, '[\u0001-\u0008\u000e-\u001f\u007f-\u009f\u034f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]');
END $migration$;

CREATE FUNCTION cased_unique_key(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
  WHEN length(given) <= 320 AND octet_length(cased_name(given)) <= 1280 THEN cased_name(given)
  ELSE '#' || encode(sha256(convert_to(btrim(given), 'UTF8')), 'hex') END;
