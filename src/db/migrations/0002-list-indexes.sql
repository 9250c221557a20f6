-- What lists filter and sort by. Every ordinary index begins with the account and ends with the id, so that it also gives the order
-- and a place to go on from (list/page.ts); the words, tags and custom fields have GIN indexes. Deleted records are in none of them
-- but the last, which lists them.

-- All there are, without looking at the records: totals count this one.
CREATE INDEX deal_live ON deal (account_id, id) WHERE deleted_at IS NULL;
CREATE INDEX product_live ON product (account_id, id) WHERE deleted_at IS NULL;

-- Sorts. One index serves both directions: nulls, last in both, are read as a branch of their own.
CREATE INDEX deal_created_at ON deal (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_updated_at ON deal (account_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_expected_close_date ON deal (account_id, expected_close_date, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_deal_closed_on ON deal (account_id, deal_closed_on, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_deal_value_value ON deal (account_id, deal_value_value, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_deal_value_in_base_currency ON deal (account_id, deal_value_in_base_currency_value, id) WHERE deleted_at IS NULL;
-- A column of the board: one stage, the largest first.
CREATE INDEX deal_stage_value ON deal (account_id, pipeline_stage, deal_value_in_base_currency_value, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_title ON deal (account_id, lower(title) COLLATE "C", id) WHERE deleted_at IS NULL;

-- Equality. The values that most deals lack are indexed where they are.
CREATE INDEX deal_pipeline ON deal (account_id, pipeline, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_status ON deal (account_id, status, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_sales_owner ON deal (account_id, sales_owner, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_sales_owner_expected_close_date ON deal (account_id, sales_owner, expected_close_date, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_primary_contact ON deal (account_id, primary_contact, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_company ON deal (account_id, company, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_territory ON deal (account_id, territory, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_source ON deal (account_id, source, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_type ON deal (account_id, type, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_payment_status ON deal (account_id, payment_status, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_forecast_category ON deal (account_id, forecast_category, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_won_reason ON deal (account_id, won_reason, id) WHERE deleted_at IS NULL AND won_reason IS NOT NULL;
CREATE INDEX deal_lost_reason ON deal (account_id, lost_reason, id) WHERE deleted_at IS NULL AND lost_reason IS NOT NULL;
CREATE INDEX deal_created_by ON deal (account_id, created_by, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_updated_by ON deal (account_id, updated_by, id) WHERE deleted_at IS NULL;
CREATE INDEX deal_deleted ON deal (account_id, id) WHERE deleted_at IS NOT NULL;

-- "Contains" compares lower-case texts: ILIKE takes six times as long for each title in an encoding of several bytes.
DROP INDEX deal_title_trigram;
CREATE INDEX deal_title_trigram ON deal USING gin (lower(title) gin_trgm_ops);
CREATE INDEX deal_tags ON deal USING gin (tags);
CREATE INDEX deal_related_contacts ON deal USING gin (related_contacts);
CREATE INDEX deal_custom ON deal USING gin (custom jsonb_path_ops);

CREATE INDEX product_created_at ON product (account_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX product_updated_at ON product (account_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX product_name ON product (account_id, lower(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX product_product_code ON product (account_id, product_code, id) WHERE deleted_at IS NULL;
CREATE INDEX product_sku_number ON product (account_id, sku_number, id) WHERE deleted_at IS NULL;
CREATE INDEX product_category ON product (account_id, category, id) WHERE deleted_at IS NULL;
CREATE INDEX product_active ON product (account_id, active, id) WHERE deleted_at IS NULL;
CREATE INDEX product_type ON product (account_id, type, id) WHERE deleted_at IS NULL;
CREATE INDEX product_sales_owner ON product (account_id, sales_owner, id) WHERE deleted_at IS NULL;
CREATE INDEX product_deleted ON product (account_id, id) WHERE deleted_at IS NOT NULL;
DROP INDEX product_name_trigram;
CREATE INDEX product_name_trigram ON product USING gin (lower(name) gin_trgm_ops);
CREATE INDEX product_custom ON product USING gin (custom jsonb_path_ops);

-- How many records a word, a tag or a custom value finds decides between these and walking the order: the planner has to know it well.
ALTER INDEX deal_title ALTER COLUMN 2 SET STATISTICS 500;
ALTER INDEX deal_title_trigram ALTER COLUMN 1 SET STATISTICS 500;
ALTER TABLE deal ALTER tags SET STATISTICS 500, ALTER related_contacts SET STATISTICS 500, ALTER custom SET STATISTICS 500;
