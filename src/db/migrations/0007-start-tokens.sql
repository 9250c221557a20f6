-- The tokens that a start of the service made: those that a start with another DEALWRIGHT_TOKEN ends (D120). Till now only their names told them.
ALTER TABLE token ADD COLUMN made_at_start boolean NOT NULL DEFAULT false;
UPDATE token SET made_at_start = true
  WHERE account_id = (SELECT min(account_id) FROM account) AND name IN ('First start', 'DEALWRIGHT_TOKEN');
