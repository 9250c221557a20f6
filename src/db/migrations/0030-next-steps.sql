-- The next step of a deal (D158): when the earliest of its planned activities is due, and its subject. Like the other columns that
-- follow from activities (0015), they are not part of the deal's own text.
ALTER TABLE deal
  ADD COLUMN next_activity_at timestamptz,
  ADD COLUMN next_activity_subject text,
  ALTER COLUMN activities_document SET DEFAULT '"done_activities":0,"upcoming_activities":0,"total_activities":0,'
    '"email_message_count":0,"last_activity_date":null,"next_activity_date":null,"next_activity_at":null,"next_activity_subject":null,'
    '"last_activity_type":null,"recent_note":null';
-- Of a deleted deal, the activities count that were deleted with it. The text has only dates and numbers before the last activity's type.
WITH next AS (
  SELECT d.account_id, d.id, min(a.due_at) AS at, (array_agg(a.subject ORDER BY a.due_at NULLS LAST, a.id) FILTER (WHERE a.id IS NOT NULL))[1] AS subject
  FROM deal d LEFT JOIN activity a
    ON a.account_id = d.account_id AND a.deal = d.id AND a.done_at IS NULL AND a.deleted_at IS NOT DISTINCT FROM d.deleted_at
  GROUP BY d.account_id, d.id
)
UPDATE deal d SET next_activity_at = n.at, next_activity_subject = n.subject,
  activities_document = concat(
    left(d.activities_document, strpos(d.activities_document, '"last_activity_type":') - 1),
    '"next_activity_at":', coalesce(to_json(to_char(n.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text, 'null'),
    ',"next_activity_subject":', coalesce(to_json(n.subject)::text, 'null'), ',',
    substr(d.activities_document, strpos(d.activities_document, '"last_activity_type":'))),
  activities_moved_at = CASE WHEN n.subject IS NULL THEN d.activities_moved_at ELSE date_trunc('milliseconds', now()) END
FROM next n WHERE n.account_id = d.account_id AND n.id = d.id;

-- The fields that a pipeline's cards show (D158); none: the usual ones.
ALTER TABLE pipeline ADD COLUMN card_fields jsonb NOT NULL DEFAULT '[]';
UPDATE pipeline SET document = regexp_replace(document, '("is_default":([0-9]+|null))', '\1,"card_fields":[]');
