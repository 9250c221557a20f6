-- The language in which an account's dates and numbers are shown to people who chose none; null: their browser's.
ALTER TABLE account ADD COLUMN locale text;
