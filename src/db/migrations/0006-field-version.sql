-- A field has a version, as records have (D7): one more with each of its events. Those that were not made by an event begin at 1.
ALTER TABLE field ADD COLUMN version int NOT NULL DEFAULT 1;

UPDATE event e SET version = t.version FROM (
    SELECT account_id, seq, row_number() OVER history + CASE first_value(type) OVER history WHEN 'field.created' THEN 0 ELSE 1 END AS version
    FROM event WHERE resource = 'field' AND record_id > 0 WINDOW history AS (PARTITION BY account_id, record_id ORDER BY seq)) t
  WHERE e.account_id = t.account_id AND e.seq = t.seq;
UPDATE field f SET version = t.version FROM (
    SELECT account_id, record_id, max(version) AS version FROM event WHERE resource = 'field' GROUP BY account_id, record_id) t
  WHERE f.account_id = t.account_id AND f.id = t.record_id;
