-- By what an event came, and what else it is: 'deal.won' (D69).
ALTER TABLE event ADD COLUMN token bigint, ADD COLUMN session bigint, ADD COLUMN request_id text,
  ADD COLUMN also text[] NOT NULL DEFAULT '{}';

-- What it would have been told of the deals' events until now. status: 1 open, 2 won, 3 lost.
UPDATE event SET also = array_remove(ARRAY[
  CASE WHEN type = 'deal.updated' AND changes ? 'pipeline_stage' THEN 'deal.stage_changed' END,
  CASE changes #>> '{status,after}' WHEN '2' THEN 'deal.won' WHEN '3' THEN 'deal.lost'
    WHEN '1' THEN CASE type WHEN 'deal.updated' THEN 'deal.reopened' END END,
  CASE WHEN type = 'deal.updated' AND changes ? 'sales_owner' THEN 'deal.owner_changed' END], NULL)
WHERE type IN ('deal.created', 'deal.updated')
  AND (changes ? 'status' OR type = 'deal.updated' AND changes ?| ARRAY['pipeline_stage', 'sales_owner']);

-- Who deleted a record, from its last deletion. A history may have begun later.
DO $$
DECLARE resource text;
BEGIN
  FOREACH resource IN ARRAY ARRAY['deal', 'product', 'contact', 'company', 'user', 'role', 'token', 'territory', 'tag', 'pipeline',
    'pipeline_stage', 'currency'] LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN deleted_by bigint', resource);
    EXECUTE format('UPDATE %I r SET deleted_by = (SELECT e.actor FROM event e WHERE e.account_id = r.account_id AND e.record_id = r.id
      AND e.type = %L ORDER BY e.seq DESC LIMIT 1) WHERE r.deleted_at IS NOT NULL', resource, resource || '.deleted');
  END LOOP;
END $$;

-- Whoever sees all may follow the events (D71).
UPDATE role SET scopes = scopes || '["event:read"]',
  document = regexp_replace(document, '("scopes":\[[^]]*)\]', '\1,"event:read"]')
WHERE built_in IN ('manager', 'member', 'read_only');

-- One object of all; of members of one name the last. Used to take changes back, the earliest last (D74).
CREATE AGGREGATE merged(jsonb) (SFUNC = jsonb_concat, STYPE = jsonb, INITCOND = '{}');
