-- Sums by stage without looking at the records, as deal_sums, and of the deals closed since a day: a board shows these.
CREATE INDEX CONCURRENTLY deal_closed_sums ON deal (account_id, pipeline_stage, deal_closed_on)
  INCLUDE (deal_value_currency, deal_value_value, weighted_value_value, deal_value_in_base_currency_value, stage_probability)
  WHERE deleted_at IS NULL;
