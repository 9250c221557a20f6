-- The version of the configuration that all amounts and dates of the account's records follow (D109).
ALTER TABLE account ADD COLUMN derived_version bigint NOT NULL DEFAULT 0;
