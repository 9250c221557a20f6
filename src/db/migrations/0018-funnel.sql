-- The deals that were moved to another pipeline (deals/funnel.ts): few of an account's events.
CREATE INDEX event_pipeline ON event (account_id, at) WHERE resource = 'deal' AND type = 'deal.updated' AND changes ? 'pipeline';
