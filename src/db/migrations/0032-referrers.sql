-- A deletion looks up which records refer to it. A lookup reads all entries that wait to be sorted into an index: after an import
-- these are thousands, until a vacuum. The trigram indexes keep their waiting entries: sorting in many words takes longer.
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
