-- A time range is a text, as the interface has it (D16): "09:00/17:30". Before, it was an object of an object.
DO $$
DECLARE
  own record;
  whole text;
BEGIN
  FOR own IN SELECT DISTINCT resource, internal_name AS name FROM field WHERE type = 'TIME_RANGE' LOOP
    whole := format('"%s":\{"range":\{"from":"([^"]*)","to":"([^"]*)"\}\}', own.name);
    EXECUTE format($sql$
      UPDATE %I SET custom = custom || jsonb_build_object(%L, concat(custom #>> %L, '/', custom #>> %L)),
        document = regexp_replace(document, %L, %L)
      WHERE jsonb_typeof(custom -> %L) = 'object'$sql$,
      own.resource, own.name, array[own.name, 'range', 'from'], array[own.name, 'range', 'to'],
      whole, format('"%s":"\1/\2"', own.name), own.name);
    UPDATE event SET changes = changes || jsonb_build_object(own.name, (
      SELECT jsonb_object_agg(c.key, CASE jsonb_typeof(c.value) WHEN 'object'
        THEN to_jsonb(concat(c.value #>> '{range,from}', '/', c.value #>> '{range,to}')) ELSE c.value END)
      FROM jsonb_each(changes -> own.name) c))
    WHERE resource = own.resource AND jsonb_typeof(changes -> own.name) = 'object';
  END LOOP;
END $$;

UPDATE field SET default_value = to_jsonb(concat(default_value #>> '{range,from}', '/', default_value #>> '{range,to}'))
WHERE type = 'TIME_RANGE' AND jsonb_typeof(default_value) = 'object';
