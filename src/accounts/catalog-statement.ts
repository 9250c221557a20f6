/** The statement that reads an account's configuration: one row, in the format of `buildCatalog`. */
import { prepared, type Sql, sql } from '../sql.ts'

export const catalogStatement = prepared(account => {
  const rows = (of: Sql, order: Sql) =>
    sql`(SELECT coalesce(json_agg(x ORDER BY ${order}), '[]') FROM (${of}) x)`
  const own = sql`account_id = ${account}::bigint`
  return sql`
SELECT json_build_object(
  'account', (SELECT row_to_json(x) FROM (
    SELECT account_id AS id, name, time_zone, locale, base_currency, catalog_version::text
    FROM account WHERE ${own}) x),
  'followed_at', (SELECT max(x.updated_at) FROM (
    SELECT updated_at FROM pipeline_stage WHERE ${own}
    UNION ALL SELECT updated_at FROM currency WHERE ${own}) x),
  'fields', ${rows(
    sql`
    SELECT id, resource, internal_name, field_name, type, config, default_value, is_required, is_active,
      is_indexed, is_unique, deleted_at, version
    FROM field WHERE ${own}`,
    sql`x.id`,
  )},
  'options', ${rows(
    sql`
    SELECT id, resource, field, name, position, is_active, is_default FROM option WHERE ${own}`,
    sql`x.position, x.id`,
  )},
  'forms', ${rows(
    sql`
    SELECT resource, sections FROM form WHERE ${own}`,
    sql`x.resource`,
  )},
  'currencies', ${rows(
    sql`
    SELECT id, code, name, symbol, decimals, rate::text, is_active = 1 AS is_active
    FROM currency WHERE ${own}`,
    sql`x.code`,
  )},
  'pipelines', ${rows(
    sql`
    SELECT id, name, position, is_default = 1 AS is_default
    FROM pipeline WHERE ${own} AND deleted_at IS NULL`,
    sql`x.position, x.id`,
  )},
  'roles', ${rows(
    sql`
    SELECT id, name, built_in, scopes, visibility, may_change, hidden_fields, locked_fields
    FROM role WHERE ${own} AND deleted_at IS NULL`,
    sql`x.id`,
  )},
  'stages', ${rows(
    sql`
    SELECT id, pipeline, name, position,
      CASE WHEN kind = 1 THEN 'open' WHEN kind = 2 THEN 'won' ELSE 'lost' END AS kind, probability,
      rotting_days
    FROM pipeline_stage WHERE ${own} AND deleted_at IS NULL`,
    sql`x.pipeline, x.position, x.id`,
  )}
)::text AS catalog`
})
