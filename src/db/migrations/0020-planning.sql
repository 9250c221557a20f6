-- Earlier migrations analyzed tables that are empty in a new database. Statements are planned for an empty table until
-- it is analyzed again: a foreign key then takes any index, and reads all of an account. A truncated table counts as
-- not analyzed, for which the planner goes by the size of its file.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM deal) AND NOT EXISTS (SELECT FROM contact) AND NOT EXISTS (SELECT FROM company)
    AND NOT EXISTS (SELECT FROM product) AND NOT EXISTS (SELECT FROM activity)
  THEN
    TRUNCATE deal, contact, company, product, activity;
  END IF;
END $$;

-- Who has an e-mail is looked up at every write that names one. Entries that wait to be sorted in are read each time.
ALTER INDEX contact_emails SET (fastupdate = off);
SELECT gin_clean_pending_list('contact_emails');

-- A column of the board has its newest deals first, and any place in it is one scroll away.
CREATE INDEX deal_stage_updated_at ON deal (account_id, pipeline_stage, updated_at, id) WHERE deleted_at IS NULL;
