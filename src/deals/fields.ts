/** The deal's fields as data, in the interface's order. An id, once published, is never given to another field. */
import { defineFields, recordFields } from '../records/resource.ts'

const amount = { min: 0, max: 9999999999999 }
const days = (from: string, to: string) => `floor(date_part('epoch', ${to} - ${from}) / 86400)::int`

export const dealFields = defineFields('deal', {
  'Basic information': [
    { id: 1, name: 'id', label: 'ID', type: 'SINGLE_NUMBER', readOnly: true },
    { id: 2, name: 'title', label: 'Title', type: 'SINGLE_STRING', required: true, config: { min_length: 1, max_length: 255 }, rules: [1] },
    { id: 3, name: 'pipeline', label: 'Pipeline', type: 'DROPDOWN', required: true, related: 'pipeline', rules: [1] },
    { id: 4, name: 'pipeline_stage', label: 'Stage', type: 'DROPDOWN', required: true, related: 'pipeline_stage', rules: [1, 2, 3, 4] },
    { id: 5, name: 'primary_contact', label: 'Primary contact', type: 'CONTACT_ONBOARD', required: true, related: 'contact', rules: [1] },
    { id: 6, name: 'related_contacts', label: 'Related contacts', type: 'CONTACTS_ONBOARD', related: 'contact', config: { max_limit: 100 } },
    { id: 7, name: 'sales_owner', label: 'Sales owner', type: 'OWNER', required: true, related: 'user', rules: [1] },
    { id: 8, name: 'company', label: 'Company', type: 'COMPANY_ONBOARD', related: 'company' },
  ],
  Value: [
    { id: 9, name: 'deal_value', label: 'Deal value', type: 'DEAL_VALUE', config: amount },
    { id: 10, name: 'weighted_value', label: 'Weighted value', type: 'MONETARY', readOnly: true, config: amount },
    { id: 11, name: 'expected_deal_value', label: 'Expected deal value', type: 'MONETARY', config: amount },
    { id: 12, name: 'product_amount', label: 'Product amount', type: 'MONETARY', readOnly: true, config: amount },
    { id: 13, name: 'deal_value_in_base_currency', label: 'Deal value in base currency', type: 'MONETARY', readOnly: true },
    { id: 14, name: 'product_quantity', label: 'Product quantity', type: 'PRODUCT', readOnly: true },
  ],
  Classification: [
    { id: 15, name: 'source', label: 'Source', type: 'DROPDOWN' },
    { id: 16, name: 'territory', label: 'Territory', type: 'TERRITORY', related: 'territory' },
    { id: 17, name: 'tags', label: 'Tags', type: 'TAGS', related: 'tag', config: { max_limit: 10, max_length: 255 } },
    { id: 18, name: 'description', label: 'Description', type: 'TEXT', config: { min_length: 1, max_length: 255 } },
    { id: 19, name: 'type', label: 'Type', type: 'DROPDOWN' },
    { id: 20, name: 'payment_status', label: 'Payment status', type: 'DROPDOWN' },
  ],
  'Closing and forecast': [
    { id: 21, name: 'won_reason', label: 'Won reason', type: 'DROPDOWN', rules: [2, 4] },
    { id: 22, name: 'lost_reason', label: 'Lost reason', type: 'DROPDOWN', rules: [3, 4] },
    { id: 23, name: 'deal_closed_on', label: 'Closed on', type: 'DATE', rules: [2, 3, 4] },
    { id: 24, name: 'expected_close_date', label: 'Expected close date', type: 'DATE', rules: [5] },
    { id: 25, name: 'forecast_category', label: 'Forecast category', type: 'DROPDOWN', rules: [5] },
    {
      id: 26,
      name: 'status',
      label: 'Status',
      type: 'DROPDOWN',
      readOnly: true,
      config: { max_length: 255 },
      options: ['Open', 'Won', 'Lost'],
    },
  ],
  Progress: [
    {
      id: 27,
      name: 'rotting_days',
      label: 'Rotting days',
      type: 'SINGLE_NUMBER',
      readOnly: true,
      volatile: true,
      computed:
        'CASE WHEN r.status = 1 AND r.stage_rotting_days IS NOT NULL ' +
        `THEN greatest(0, ${days('r.deal_stage_updated_at', 'now()')} - r.stage_rotting_days) END`,
    },
    {
      id: 28,
      name: 'age',
      label: 'Age',
      type: 'SINGLE_NUMBER',
      readOnly: true,
      volatile: true,
      computed: `greatest(0, ${days('r.created_at', 'coalesce(r.won_time, r.lost_time, now())')})`,
    },
    { id: 29, name: 'stage_probability', label: 'Stage probability', type: 'SINGLE_NUMBER', readOnly: true },
    { id: 30, name: 'stage_rotting_days', label: 'Stage rotting days', type: 'SINGLE_NUMBER', readOnly: true, hidden: true },
    { id: 31, name: 'won_time', label: 'Won time', type: 'DATE_TIME', readOnly: true },
    { id: 32, name: 'lost_time', label: 'Lost time', type: 'DATE_TIME', readOnly: true },
    { id: 33, name: 'deal_stage_updated_at', label: 'Stage updated at', type: 'DATE_TIME', readOnly: true },
    { id: 34, name: 'last_assigned_at', label: 'Last assigned at', type: 'DATE_TIME', readOnly: true },
  ],
  // Fed by the activity resource once it exists (D25); until then nothing has been counted.
  Activity: [
    { id: 35, name: 'done_activities', label: 'Done activities', type: 'SINGLE_NUMBER', readOnly: true, computed: '0', default: 0 },
    { id: 36, name: 'upcoming_activities', label: 'Upcoming activities', type: 'SINGLE_NUMBER', readOnly: true, computed: '0', default: 0 },
    { id: 37, name: 'total_activities', label: 'Total activities', type: 'SINGLE_NUMBER', readOnly: true, computed: '0', default: 0 },
    { id: 38, name: 'email_message_count', label: 'E-mail messages', type: 'SINGLE_NUMBER', readOnly: true, computed: '0', default: 0 },
    { id: 39, name: 'last_email_received', label: 'Last e-mail received', type: 'DATE_TIME', readOnly: true, computed: 'NULL::timestamptz' },
    { id: 40, name: 'last_email_sent', label: 'Last e-mail sent', type: 'DATE_TIME', readOnly: true, computed: 'NULL::timestamptz' },
    { id: 41, name: 'last_activity_date', label: 'Last activity date', type: 'DATE', readOnly: true, computed: 'NULL::date' },
    { id: 42, name: 'next_activity_date', label: 'Next activity date', type: 'DATE', readOnly: true, computed: 'NULL::date' },
    { id: 43, name: 'last_activity_type', label: 'Last activity type', type: 'SINGLE_STRING', readOnly: true, computed: 'NULL::text' },
    { id: 44, name: 'web_forms', label: 'Web forms', type: 'SINGLE_STRING', readOnly: true, config: { max_length: 255 }, computed: 'NULL::text' },
    { id: 45, name: 'recent_note', label: 'Recent note', type: 'TEXT', readOnly: true, computed: 'NULL::text' },
  ],
  Record: [
    { id: 46, name: 'created_at', label: 'Created at', type: 'DATE_TIME', readOnly: true },
    { id: 47, name: 'updated_at', label: 'Updated at', type: 'DATE_TIME', readOnly: true },
    { id: 48, name: 'created_by', label: 'Created by', type: 'OWNER', readOnly: true, related: 'user' },
    { id: 49, name: 'updated_by', label: 'Updated by', type: 'OWNER', readOnly: true, related: 'user' },
    ...recordFields(50),
  ],
})
