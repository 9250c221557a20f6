/**
 * The deal's fields as data, in the interface's order. A published id is never reused. `status`,
 * `stage_probability` and the derived amounts are columns of the deal (D46).
 */
import type { Row } from '../../fields/columns.ts'
import {
  authorFields,
  defineFields,
  derived,
  field,
  idField,
  recordFields,
  shortText,
} from '../../fields/define.ts'
import { moneyRange } from '../../fields/kinds/product-lines.ts'
import { type Sql, sql } from '../../sql.ts'

const days = (from: Sql, to: Sql) => sql`floor(date_part('epoch', ${to} - ${from}) / 86400)::int`
/** Condition that an open deal's number of days since `from` differs from that at its last write. */
const hasMoreDays = ({ alias: r, now }: Row, from: Sql) =>
  sql`${r}status = 1 AND date_bin('1 day', ${now}, ${from}) > ${r}updated_at`
const rotsFrom = (r: Sql) => sql`greatest(${r}deal_stage_updated_at, ${r}last_done_at)`
/** A field that writes of activities maintain; it reveals these fields of theirs. */
const ofActivities = (...names: string[]) => ({
  ...derived(...names.map(name => `activity.${name}`)),
  maintained_by: 'activity',
})
const counters = (
  [
    [35, 'done_activities', 'Done activities', 'done_at'],
    [36, 'upcoming_activities', 'Upcoming activities', 'done_at'],
    [37, 'total_activities', 'Total activities'],
    [38, 'email_message_count', 'E-mail messages', 'kind', 'done_at'],
  ] as const
).map(([id, name, label, ...from]) =>
  field(id, name, label, 'SINGLE_NUMBER', { is_filled: true, default_value: 0, ...ofActivities(...from) }),
)

export const dealFields = defineFields('deal', {
  'Basic information': [
    idField(1),
    field(2, 'title', 'Title', 'SINGLE_STRING', { is_required: true, config: shortText, rules: [1] }),
    field(3, 'pipeline', 'Pipeline', 'DROPDOWN', { is_required: true, related: 'pipeline', rules: [1] }),
    field(4, 'pipeline_stage', 'Stage', 'DROPDOWN', {
      is_required: true,
      related: 'pipeline_stage',
      within: 'pipeline',
      rules: [1, 2, 3, 4],
      help: 'A stage of the pipeline. One of the kind Won or Lost closes the deal; send the reason and deal_closed_on with it.',
    }),
    field(5, 'primary_contact', 'Primary contact', 'CONTACT_ONBOARD', {
      is_required: true,
      related: 'contact',
      rules: [1],
    }),
    field(6, 'related_contacts', 'Related contacts', 'CONTACTS_ONBOARD', {
      related: 'contact',
      config: { max_limit: 100 },
    }),
    field(7, 'sales_owner', 'Sales owner', 'OWNER', {
      is_required: true,
      related: 'user',
      is_offered: true,
      rules: [1],
    }),
    field(8, 'company', 'Company', 'COMPANY_ONBOARD', { related: 'company' }),
  ],
  Value: [
    field(9, 'deal_value', 'Deal value', 'DEAL_VALUE', {
      lines_of: 'product',
      in_base: 'deal_value_in_base_currency',
      config: moneyRange,
      help: 'Where products are sent without a value, the deal becomes worth their sum.',
    }),
    field(10, 'weighted_value', 'Weighted value', 'MONETARY', {
      ...derived('deal_value', 'stage_probability'),
      is_volatile: true,
      config: moneyRange,
      help: 'The value times the probability of the stage.',
    }),
    field(11, 'expected_deal_value', 'Expected deal value', 'MONETARY', { config: moneyRange }),
    field(12, 'product_amount', 'Product amount', 'MONETARY', {
      ...derived('deal_value'),
      config: moneyRange,
    }),
    field(13, 'deal_value_in_base_currency', 'Deal value in base currency', 'MONETARY', {
      in_base: 'deal_value_in_base_currency',
      ...derived('deal_value'),
      is_volatile: true,
      help: 'The value at the rate of its currency. It stays as it is when the deal is closed.',
    }),
    field(14, 'product_quantity', 'Product quantity', 'PRODUCT', derived('deal_value')),
  ],
  Classification: [
    field(15, 'source', 'Source', 'DROPDOWN'),
    field(16, 'territory', 'Territory', 'TERRITORY', { related: 'territory', is_offered: true }),
    field(17, 'tags', 'Tags', 'TAGS', {
      related: 'tag',
      is_offered: true,
      config: { max_limit: 10, max_length: 255 },
    }),
    field(18, 'description', 'Description', 'TEXT', { config: shortText }),
    field(19, 'type', 'Type', 'DROPDOWN'),
    field(20, 'payment_status', 'Payment status', 'DROPDOWN'),
  ],
  'Closing and forecast': [
    field(21, 'won_reason', 'Won reason', 'DROPDOWN', {
      rules: [2, 4],
      help: 'Needed with a stage of the kind Won.',
    }),
    field(22, 'lost_reason', 'Lost reason', 'DROPDOWN', {
      rules: [3, 4],
      help: 'Needed with a stage of the kind Lost.',
    }),
    field(23, 'deal_closed_on', 'Closed on', 'DATE', {
      rules: [2, 3, 4],
      help: 'Needed with a stage of the kind Won or Lost.',
    }),
    field(24, 'expected_close_date', 'Expected close date', 'DATE', {
      rules: [5],
      help: 'Needed with a forecast category.',
    }),
    field(25, 'forecast_category', 'Forecast category', 'DROPDOWN', { rules: [5] }),
    field(26, 'status', 'Status', 'DROPDOWN', {
      ...derived('pipeline_stage', 'pipeline_stage.kind'),
      is_filled: true,
      config: { max_length: 255 },
      options: ['Open', 'Won', 'Lost'],
      help: 'It follows from the stage: to win, lose or reopen a deal, set its pipeline_stage.',
    }),
  ],
  Progress: [
    field(27, 'rotting_days', 'Rotting days', 'SINGLE_NUMBER', {
      ...derived('deal_stage_updated_at', 'stage_rotting_days', 'activity.done_at'),
      is_volatile: true,
      // A done activity restarts it.
      computed: ({ alias: r, now }: Row) =>
        sql`CASE WHEN ${r}status = 1 AND ${r}stage_rotting_days IS NOT NULL
          THEN greatest(0, ${days(rotsFrom(r), now)} - ${r}stage_rotting_days) END`,
      moves: row =>
        sql`${row.alias}stage_rotting_days IS NOT NULL AND ${hasMoreDays(row, rotsFrom(row.alias))}`,
    }),
    field(28, 'age', 'Age', 'SINGLE_NUMBER', {
      ...derived('created_at', 'won_time', 'lost_time'),
      is_volatile: true,
      computed: ({ alias: r, now }: Row) =>
        sql`greatest(0, ${days(sql`${r}created_at`, sql`coalesce(${r}won_time, ${r}lost_time, ${now})`)})`,
      moves: row => hasMoreDays(row, sql`${row.alias}created_at`),
    }),
    field(29, 'stage_probability', 'Stage probability', 'SINGLE_NUMBER', {
      ...derived('pipeline_stage', 'pipeline_stage.probability'),
      is_volatile: true,
    }),
    field(30, 'stage_rotting_days', 'Stage rotting days', 'SINGLE_NUMBER', {
      ...derived('pipeline_stage', 'pipeline_stage.rotting_days'),
      is_hidden: true,
    }),
    field(31, 'won_time', 'Won time', 'DATE_TIME', derived('status')),
    field(32, 'lost_time', 'Lost time', 'DATE_TIME', derived('status')),
    field(33, 'deal_stage_updated_at', 'Stage updated at', 'DATE_TIME', derived('pipeline_stage')),
    field(34, 'last_assigned_at', 'Last assigned at', 'DATE_TIME', derived('sales_owner')),
  ],
  // Writes of activities maintain these fields (D25, D73).
  Activity: [
    ...counters,
    field(39, 'last_email_received', 'Last e-mail received', 'DATE_TIME', {
      is_read_only: true,
      computed: () => sql`NULL::timestamptz`,
    }),
    field(40, 'last_email_sent', 'Last e-mail sent', 'DATE_TIME', {
      is_read_only: true,
      computed: () => sql`NULL::timestamptz`,
    }),
    field(41, 'last_activity_date', 'Last activity date', 'DATE', ofActivities('done_at')),
    field(42, 'next_activity_date', 'Next activity date', 'DATE', ofActivities('due_at', 'done_at')),
    field(55, 'next_activity_at', 'Next activity at', 'DATE_TIME', ofActivities('due_at', 'done_at')),
    field(56, 'next_activity_subject', 'Next activity', 'SINGLE_STRING', {
      shows_one: true,
      config: { max_length: 255 },
      ...ofActivities('subject', 'due_at', 'done_at'),
    }),
    field(43, 'last_activity_type', 'Last activity type', 'SINGLE_STRING', {
      shows_one: true,
      ...ofActivities('kind', 'done_at'),
    }),
    field(44, 'web_forms', 'Web forms', 'SINGLE_STRING', {
      is_read_only: true,
      config: { max_length: 255 },
      computed: () => sql`NULL::text`,
    }),
    field(54, 'last_done_at', 'Last done at', 'DATE_TIME', { is_hidden: true, ...ofActivities('done_at') }),
    field(45, 'recent_note', 'Recent note', 'TEXT', { shows_one: true, ...ofActivities('kind', 'notes') }),
  ],
  Record: [...authorFields(46), ...recordFields(50)],
})
