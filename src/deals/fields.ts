/**
 * The deal's fields as data, in the interface's order. An id, once published, is never given to another
 * field. `status`, `stage_probability` and the derived amounts are columns of the deal (D46).
 */
import type { Row } from '../fields/columns.ts'
import { authorFields, defineFields, idField, recordFields } from '../records/resource.ts'
import { type Sql, sql } from '../sql.ts'

/** The interface's range of every amount. */
export const moneyRange = { min: 0, max: 9999999999999 }
const days = (from: Sql, to: Sql) => sql`floor(date_part('epoch', ${to} - ${from}) / 86400)::int`
/** Whether, of an open deal, the number of days since then is another than at its last write. */
const hasMoreDays = ({ alias: r, now }: Row, from: Sql) =>
  sql`${r}status = 1 AND date_bin('1 day', ${now}, ${from}) > ${r}updated_at`
const rotsFrom = (r: Sql) => sql`greatest(${r}deal_stage_updated_at, ${r}last_done_at)`
/** A field that writes of activities keep; it tells of these fields of theirs. */
const ofActivities = (...names: string[]) => ({
  readOnly: true,
  keptBy: 'activity',
  derivesFrom: names.map(name => `activity.${name}`),
})
const counters = (
  [
    [35, 'done_activities', 'Done activities', 'done_at'],
    [36, 'upcoming_activities', 'Upcoming activities', 'done_at'],
    [37, 'total_activities', 'Total activities'],
    [38, 'email_message_count', 'E-mail messages', 'kind', 'done_at'],
  ] as const
).map(([id, name, label, ...from]) => ({
  ...{ id, name, label, type: 'SINGLE_NUMBER' as const, filled: true, default: 0 },
  ...ofActivities(...from),
}))

export const dealFields = defineFields('deal', {
  'Basic information': [
    idField(1),
    {
      id: 2,
      name: 'title',
      label: 'Title',
      type: 'SINGLE_STRING',
      required: true,
      config: { min_length: 1, max_length: 255 },
      rules: [1],
    },
    {
      id: 3,
      name: 'pipeline',
      label: 'Pipeline',
      type: 'DROPDOWN',
      required: true,
      related: 'pipeline',
      rules: [1],
    },
    {
      id: 4,
      name: 'pipeline_stage',
      label: 'Stage',
      type: 'DROPDOWN',
      required: true,
      related: 'pipeline_stage',
      within: 'pipeline',
      rules: [1, 2, 3, 4],
      help: 'A stage of the pipeline. One of the kind Won or Lost closes the deal; send the reason and deal_closed_on with it.',
    },
    {
      id: 5,
      name: 'primary_contact',
      label: 'Primary contact',
      type: 'CONTACT_ONBOARD',
      required: true,
      related: 'contact',
      rules: [1],
    },
    {
      id: 6,
      name: 'related_contacts',
      label: 'Related contacts',
      type: 'CONTACTS_ONBOARD',
      related: 'contact',
      config: { max_limit: 100 },
    },
    {
      id: 7,
      name: 'sales_owner',
      label: 'Sales owner',
      type: 'OWNER',
      required: true,
      related: 'user',
      offered: true,
      rules: [1],
    },
    { id: 8, name: 'company', label: 'Company', type: 'COMPANY_ONBOARD', related: 'company' },
  ],
  Value: [
    {
      id: 9,
      name: 'deal_value',
      label: 'Deal value',
      type: 'DEAL_VALUE',
      linesOf: 'product',
      inBase: 'deal_value_in_base_currency',
      config: moneyRange,
      help: 'Where products are sent without a value, the deal becomes worth their sum.',
    },
    {
      id: 10,
      name: 'weighted_value',
      label: 'Weighted value',
      type: 'MONETARY',
      readOnly: true,
      derivesFrom: ['deal_value', 'stage_probability'],
      volatile: true,
      config: moneyRange,
      help: 'The value times the probability of the stage.',
    },
    {
      id: 11,
      name: 'expected_deal_value',
      label: 'Expected deal value',
      type: 'MONETARY',
      config: moneyRange,
    },
    {
      id: 12,
      name: 'product_amount',
      label: 'Product amount',
      type: 'MONETARY',
      readOnly: true,
      derivesFrom: ['deal_value'],
      config: moneyRange,
    },
    {
      id: 13,
      name: 'deal_value_in_base_currency',
      label: 'Deal value in base currency',
      type: 'MONETARY',
      inBase: 'deal_value_in_base_currency',
      readOnly: true,
      derivesFrom: ['deal_value'],
      volatile: true,
      help: 'The value at the rate of its currency. It stays as it is when the deal is closed.',
    },
    {
      id: 14,
      name: 'product_quantity',
      label: 'Product quantity',
      type: 'PRODUCT',
      readOnly: true,
      derivesFrom: ['deal_value'],
    },
  ],
  Classification: [
    { id: 15, name: 'source', label: 'Source', type: 'DROPDOWN' },
    { id: 16, name: 'territory', label: 'Territory', type: 'TERRITORY', related: 'territory', offered: true },
    {
      id: 17,
      name: 'tags',
      label: 'Tags',
      type: 'TAGS',
      related: 'tag',
      offered: true,
      config: { max_limit: 10, max_length: 255 },
    },
    {
      id: 18,
      name: 'description',
      label: 'Description',
      type: 'TEXT',
      config: { min_length: 1, max_length: 255 },
    },
    { id: 19, name: 'type', label: 'Type', type: 'DROPDOWN' },
    { id: 20, name: 'payment_status', label: 'Payment status', type: 'DROPDOWN' },
  ],
  'Closing and forecast': [
    {
      id: 21,
      name: 'won_reason',
      label: 'Won reason',
      type: 'DROPDOWN',
      rules: [2, 4],
      help: 'Needed with a stage of the kind Won.',
    },
    {
      id: 22,
      name: 'lost_reason',
      label: 'Lost reason',
      type: 'DROPDOWN',
      rules: [3, 4],
      help: 'Needed with a stage of the kind Lost.',
    },
    {
      id: 23,
      name: 'deal_closed_on',
      label: 'Closed on',
      type: 'DATE',
      rules: [2, 3, 4],
      help: 'Needed with a stage of the kind Won or Lost.',
    },
    {
      id: 24,
      name: 'expected_close_date',
      label: 'Expected close date',
      type: 'DATE',
      rules: [5],
      help: 'Needed with a forecast category.',
    },
    { id: 25, name: 'forecast_category', label: 'Forecast category', type: 'DROPDOWN', rules: [5] },
    {
      id: 26,
      name: 'status',
      label: 'Status',
      type: 'DROPDOWN',
      readOnly: true,
      derivesFrom: ['pipeline_stage', 'pipeline_stage.kind'],
      filled: true,
      config: { max_length: 255 },
      options: ['Open', 'Won', 'Lost'],
      help: 'It follows from the stage: to win, lose or reopen a deal, set its pipeline_stage.',
    },
  ],
  Progress: [
    {
      id: 27,
      name: 'rotting_days',
      label: 'Rotting days',
      type: 'SINGLE_NUMBER',
      readOnly: true,
      derivesFrom: ['deal_stage_updated_at', 'stage_rotting_days', 'activity.done_at'],
      volatile: true,
      // A done activity begins it anew.
      computed: ({ alias: r, now }: Row) =>
        sql`CASE WHEN ${r}status = 1 AND ${r}stage_rotting_days IS NOT NULL
          THEN greatest(0, ${days(rotsFrom(r), now)} - ${r}stage_rotting_days) END`,
      moves: row =>
        sql`${row.alias}stage_rotting_days IS NOT NULL AND ${hasMoreDays(row, rotsFrom(row.alias))}`,
    },
    {
      id: 28,
      name: 'age',
      label: 'Age',
      type: 'SINGLE_NUMBER',
      readOnly: true,
      derivesFrom: ['created_at', 'won_time', 'lost_time'],
      volatile: true,
      computed: ({ alias: r, now }: Row) =>
        sql`greatest(0, ${days(sql`${r}created_at`, sql`coalesce(${r}won_time, ${r}lost_time, ${now})`)})`,
      moves: row => hasMoreDays(row, sql`${row.alias}created_at`),
    },
    {
      id: 29,
      name: 'stage_probability',
      label: 'Stage probability',
      type: 'SINGLE_NUMBER',
      readOnly: true,
      derivesFrom: ['pipeline_stage', 'pipeline_stage.probability'],
      volatile: true,
    },
    {
      id: 30,
      name: 'stage_rotting_days',
      label: 'Stage rotting days',
      type: 'SINGLE_NUMBER',
      readOnly: true,
      derivesFrom: ['pipeline_stage', 'pipeline_stage.rotting_days'],
      hidden: true,
    },
    {
      id: 31,
      name: 'won_time',
      label: 'Won time',
      type: 'DATE_TIME',
      readOnly: true,
      derivesFrom: ['status'],
    },
    {
      id: 32,
      name: 'lost_time',
      label: 'Lost time',
      type: 'DATE_TIME',
      readOnly: true,
      derivesFrom: ['status'],
    },
    {
      id: 33,
      name: 'deal_stage_updated_at',
      label: 'Stage updated at',
      type: 'DATE_TIME',
      readOnly: true,
      derivesFrom: ['pipeline_stage'],
    },
    {
      id: 34,
      name: 'last_assigned_at',
      label: 'Last assigned at',
      type: 'DATE_TIME',
      readOnly: true,
      derivesFrom: ['sales_owner'],
    },
  ],
  // What follows from the deal's activities is kept by the writes of activities (D25, D73).
  Activity: [
    ...counters,
    {
      id: 39,
      name: 'last_email_received',
      label: 'Last e-mail received',
      type: 'DATE_TIME',
      readOnly: true,
      computed: () => sql`NULL::timestamptz`,
    },
    {
      id: 40,
      name: 'last_email_sent',
      label: 'Last e-mail sent',
      type: 'DATE_TIME',
      readOnly: true,
      computed: () => sql`NULL::timestamptz`,
    },
    {
      id: 41,
      name: 'last_activity_date',
      label: 'Last activity date',
      type: 'DATE',
      ...ofActivities('done_at'),
    },
    {
      id: 42,
      name: 'next_activity_date',
      label: 'Next activity date',
      type: 'DATE',
      ...ofActivities('due_at', 'done_at'),
    },
    {
      id: 43,
      name: 'last_activity_type',
      label: 'Last activity type',
      type: 'SINGLE_STRING',
      showsOne: true,
      ...ofActivities('kind', 'done_at'),
    },
    {
      id: 44,
      name: 'web_forms',
      label: 'Web forms',
      type: 'SINGLE_STRING',
      readOnly: true,
      config: { max_length: 255 },
      computed: () => sql`NULL::text`,
    },
    {
      id: 54,
      name: 'last_done_at',
      label: 'Last done at',
      type: 'DATE_TIME',
      hidden: true,
      ...ofActivities('done_at'),
    },
    {
      id: 45,
      name: 'recent_note',
      label: 'Recent note',
      type: 'TEXT',
      showsOne: true,
      ...ofActivities('kind', 'notes'),
    },
  ],
  Record: [...authorFields(46), ...recordFields(50)],
})
