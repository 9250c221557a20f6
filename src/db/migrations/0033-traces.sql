-- The traceparent of the request that wrote an event, for its webhooks (D169). Null where requests are not traced.
ALTER TABLE event ADD COLUMN traceparent text;
