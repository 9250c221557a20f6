-- A deletion looks up the records that refer to it. Each lookup scans the pending list of a GIN index, which has thousands of entries
-- after an import, until a vacuum. The trigram indexes keep theirs: a row has many trigrams, and inserting them one by one takes longer.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['deal_tags', 'deal_related_contacts', 'deal_custom', 'product_custom', 'contact_custom', 'company_custom',
    'activity_custom', 'deal_custom_emails', 'product_custom_emails', 'contact_custom_emails', 'company_custom_emails',
    'activity_custom_emails']
  LOOP
    EXECUTE format('ALTER INDEX %I SET (fastupdate = off)', name);
    PERFORM gin_clean_pending_list(name::regclass);
  END LOOP;
END $$;
