-- What is looked for and sorted is folded without accents, too (D126): fold() is what it was, now lowered(), and drops marks and what nobody
-- sees. Names are compared with their accents: compared_name() goes on with lowered(). src/fold.ts has the same tables.
ALTER FUNCTION fold(text) RENAME TO lowered;
DO $migration$
DECLARE
  table_of_accents text := '
    a:àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ ae:æǣǽ b:ḃḅḇ c:çćĉċčḉ d:đďḋḍḏḑḓ e:èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ f:ḟ
    g:ĝğġģǧǵḡ h:ħĥȟḣḥḧḩḫẖ i:ıìíîïĩīĭįǐȉȋḭḯỉị j:ĵǰ k:ķǩḱḳḵ l:łĺļľḷḹḻḽ m:ḿṁṃ n:ñńņňǹṅṇṉṋ
    o:øòóôõöōŏőơǒǫǭǿȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ oe:œ p:ṕṗ r:ŕŗřȑȓṙṛṝṟ s:ſśŝşšșṡṣṥṧṩẛ ss:ß t:ŧţťțṫṭṯṱẗ
    u:ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự v:ṽṿ w:ŵẁẃẅẇẉẘ x:ẋẍ y:ýÿŷȳẏẙỳỵỷỹ z:źżžẑẓẕ ʒ:ǯ
    α:άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ ε:έἐἑἒἓἔἕὲέ η:ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ ι:ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ
    ο:όὀὁὂὃὄὅὸό ρ:ῤῥ υ:ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ ω:ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒ:ϓϔ а:ӑӓ г:ѓ е:ѐёӗ ж:ӂӝ з:ӟ
    и:йѝӣӥ к:ќ о:ӧ у:ўӯӱӳ ч:ӵ ы:ӹ э:ӭ і:ї ѵ:ѷ ә:ӛ ө:ӫ 𐗒:𐗉 𐗚:𐗤
';
  marks text := '[\u0300-\u0333\u0339-\u036f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]';
  accented text;
  bare text;
BEGIN
  -- Of letters that become two the first stands for the others; what it becomes is written below.
  SELECT string_agg(letter, ''), string_agg(CASE length(line[1]) WHEN 1 THEN line[1] ELSE left(line[2], 1) END, '') INTO accented, bare
  FROM regexp_matches(table_of_accents, '(\S+):(\S+)', 'g') line, LATERAL regexp_split_to_table(line[2], '') letter;

  -- Most texts have no such letter: what may have one is told by ranges. translate() compares each letter of a text with each of the table,
  -- which takes ten times as long as decomposing. But decomposing is right only for what is of these ranges: others come apart, too, and many
  -- marks would take the square of their number.
  EXECUTE format($fold$
    CREATE FUNCTION fold(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
      WHEN octet_length(given) = length(given) THEN lower(given COLLATE "C") COLLATE "C"
      WHEN given COLLATE "C" !~ %1$L THEN lowered(given)
      ELSE replace(replace(replace(translate(CASE
        WHEN given COLLATE "C" ~ %2$L
          THEN regexp_replace(normalize(regexp_replace(lowered(given), %3$L, '', 'g'), NFD), %3$L, '', 'g')
        ELSE regexp_replace(translate(lowered(given), %4$L, %5$L), %3$L, '', 'g') END,
        'øđħłŧıſ', 'odhltis'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe') COLLATE "C" END
  $fold$,
    '[\u00c0-\u017f\u01a0\u01a1\u01af\u01b0\u01cd-\u0233\u0300-\u0390\u03aa-\u03b0\u03ca-\u03d4\u0400-\u040e\u0419\u0439\u0450-\u045e\u0476\u0477'
      || '\u04c1\u04c2\u04d0-\u04f9\u1e00-\u1fff\u212b\U000105c9\U000105e4\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]',
    '^[\u0001-\u0373\u0386\u0388-\u0482\u048a-\u052f\u1e00-\u1eff\u2002-\u20cf\u3400-\u9fff\ufe0f\U0001f000-\U0001faff]*$',
    marks, accented, bare);
END $migration$;

-- The digits of phone numbers without the marks between them, and without what tells an extension: "ext. 5", "x5" and "-5" are one. A number is
-- in quotes, which a comma between them follows. A regular expression for all marks would take twice as long.
CREATE OR REPLACE FUNCTION phone_digits(phones jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN regexp_replace(replace(replace(replace(replace(replace(replace(jsonb_path_query_array(phones, '$[*].phone_number')::text,
    ' ', ''), '-', ''), '(', ''), ')', ''), '.', ''), '/', ''), '[a-zA-Z#*;]+|,(?!")', '', 'g');

DROP INDEX deal_title, deal_title_trigram, product_name, product_name_trigram, contact_last_name, contact_last_name_trigram,
  company_name, company_name_trigram, activity_subject, activity_subject_trigram, contact_searched, company_searched, product_searched;
CREATE INDEX deal_title ON deal (account_id, fold(title) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX deal_title_trigram ON deal USING gin (fold(title) gin_trgm_ops);
CREATE INDEX product_name ON product (account_id, fold(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX product_name_trigram ON product USING gin (fold(name) gin_trgm_ops);
CREATE INDEX contact_last_name ON contact (account_id, fold(last_name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX contact_last_name_trigram ON contact USING gin (fold(last_name) gin_trgm_ops);
CREATE INDEX company_name ON company (account_id, fold(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX company_name_trigram ON company USING gin (fold(name) gin_trgm_ops);
CREATE INDEX activity_subject ON activity (account_id, fold(subject) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX activity_subject_trigram ON activity USING gin (fold(subject) gin_trgm_ops);
CREATE INDEX contact_searched ON contact USING gin ((coalesce(fold(first_name), '') || E'\n' || fold(last_name) || E'\n'
  || coalesce(fold(email_values(emails)), '') || E'\n' || coalesce(phone_digits(phones), '')) gin_trgm_ops);
CREATE INDEX company_searched ON company USING gin ((fold(name) || E'\n' || coalesce(phone_digits(phones), '')) gin_trgm_ops);
CREATE INDEX product_searched ON product USING gin ((fold(name) || E'\n' || coalesce(fold(product_code), '')) gin_trgm_ops);
ALTER INDEX deal_title ALTER COLUMN 2 SET STATISTICS 500;
ALTER INDEX deal_title_trigram ALTER COLUMN 1 SET STATISTICS 500;
ALTER INDEX contact_searched ALTER COLUMN 1 SET STATISTICS 500;
-- The planner knows nothing of new expressions until then.
ANALYZE deal, product, contact, company, activity;

-- Those of custom texts are made anew by the upkeep of the next start.
DO $migration$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT indexname FROM pg_indexes
    WHERE schemaname = current_schema() AND indexname ~ '^custom_\d+_\d+$' AND indexdef LIKE '%lowered(%'
  LOOP
    EXECUTE format('DROP INDEX %I', name);
  END LOOP;
END $migration$;
