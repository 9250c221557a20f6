-- A delivery that is sent again while it is sent (D72): an outcome is that of the round in which it was begun.
ALTER TABLE webhook_delivery ADD COLUMN round int NOT NULL DEFAULT 0;
