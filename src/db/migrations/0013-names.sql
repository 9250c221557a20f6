-- Names stand for ids (D75), and e-mails match in any case (D88): what both compare has indexes.

-- The addresses of a list of e-mails as they are compared; each entry is {"email_type", "email_value"}. Its cost keeps the planner from
-- comparing every record instead of asking an index, also where it knows nothing of the addresses yet.
CREATE FUNCTION email_keys(entries jsonb) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000 RETURN ARRAY(
  SELECT compared_name(item #>> '{}') FROM jsonb_path_query(entries, '$[*].email_value') item WHERE item <> 'null');

CREATE INDEX contact_emails ON contact USING gin (email_keys(emails) COLLATE "C");
CREATE INDEX company_compared_name ON company (account_id, compared_name(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX product_compared_name ON product (account_id, compared_name(name) COLLATE "C", id) WHERE deleted_at IS NULL;
CREATE INDEX product_compared_code ON product (account_id, compared_name(product_code) COLLATE "C", id)
  WHERE deleted_at IS NULL;
CREATE INDEX user_compared_name ON "user" (account_id, compared_name(name) COLLATE "C", id) WHERE deleted_at IS NULL;

-- The addresses of all custom e-mails of a record, where it has any.
CREATE INDEX deal_custom_emails ON deal USING gin (email_keys(jsonb_path_query_array(custom, '$.*[*]')) COLLATE "C")
  WHERE custom @? '$.*[*].email_value';
CREATE INDEX product_custom_emails ON product USING gin (email_keys(jsonb_path_query_array(custom, '$.*[*]')) COLLATE "C")
  WHERE custom @? '$.*[*].email_value';
CREATE INDEX contact_custom_emails ON contact USING gin (email_keys(jsonb_path_query_array(custom, '$.*[*]')) COLLATE "C")
  WHERE custom @? '$.*[*].email_value';
CREATE INDEX company_custom_emails ON company USING gin (email_keys(jsonb_path_query_array(custom, '$.*[*]')) COLLATE "C")
  WHERE custom @? '$.*[*].email_value';
ANALYZE deal, product, contact, company, "user";

-- Unique fields (D76): each value that a live record has in one, as it is compared. A write adds its own in its one statement.
ALTER TABLE field ADD COLUMN is_unique boolean NOT NULL DEFAULT false;
CREATE TABLE unique_value (
  account_id bigint NOT NULL REFERENCES account,
  field bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  record bigint NOT NULL,
  PRIMARY KEY (account_id, field, key)
);
CREATE INDEX unique_value_record ON unique_value (account_id, record);

-- A text as it is compared. A long one is not composed, which would take the square of its marks; what an index can't hold is hashed.
CREATE FUNCTION unique_key(given text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE
  WHEN length(given) <= 320 AND octet_length(compared_name(given)) <= 1280 THEN compared_name(given)
  ELSE '#' || encode(sha256(convert_to(fold(btrim(given)), 'UTF8')), 'hex') END;
