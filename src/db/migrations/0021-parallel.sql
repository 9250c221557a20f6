-- Lists and sums of a past day use it, and PostgreSQL reads the events for them in parallel only if all that a
-- statement uses says that it may.
CREATE OR REPLACE AGGREGATE merged(jsonb) (SFUNC = jsonb_concat, STYPE = jsonb, INITCOND = '{}', PARALLEL = SAFE);
