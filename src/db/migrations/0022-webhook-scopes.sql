-- The scopes of whoever made or last changed a webhook (D72), where their token had less than their role; null: as the
-- role of its user.
ALTER TABLE webhook_progress ADD COLUMN scopes jsonb;
