-- The next event of a record that a webhook waits with, and when the last one before it was first tried (D72).
CREATE INDEX CONCURRENTLY webhook_delivery_turns ON webhook_delivery (account_id, webhook, resource, record,
  first_tried_at DESC NULLS LAST, seq) WHERE state = 'waiting';
