/**
 * The defaults of a new account (D40): its pipeline, the interface's option lists, and its roles. Data only.
 */
import type { Visibility } from '../fields/catalog.ts'
import { businessData } from '../resources/resources.ts'
import { followScope, importScope } from '../rights/scopes.ts'

export const defaultPipeline = {
  name: 'Sales pipeline',
  stages: [
    { name: 'New', kind: 'Open', probability: 10, rotting_days: 14 },
    { name: 'Qualified', kind: 'Open', probability: 30, rotting_days: 21 },
    { name: 'Proposal', kind: 'Open', probability: 50, rotting_days: 30 },
    { name: 'Negotiation', kind: 'Open', probability: 70, rotting_days: 30 },
    { name: 'Won', kind: 'Won', probability: 100, rotting_days: null },
    { name: 'Lost', kind: 'Lost', probability: 0, rotting_days: null },
  ],
} as const

export const defaultOptions: readonly {
  readonly resource: string
  readonly field: string
  readonly names: readonly string[]
}[] = [
  {
    resource: 'deal',
    field: 'source',
    names: [
      ...['Web', 'Organic Search', 'Email', 'Phone', 'Chat', 'Web Form', 'Referral', 'Direct'],
      ...['Paid Search', 'Blogs', 'Social Media', 'Display Ads', 'Events', 'Webinar'],
    ],
  },
  {
    resource: 'deal',
    field: 'type',
    names: ['New Business', 'Existing Business - Renewal', 'Existing Business - Upgrade'],
  },
  { resource: 'deal', field: 'payment_status', names: ['Online', 'Offline'] },
  { resource: 'deal', field: 'won_reason', names: ['Product feature', 'Price', 'Timing', 'Others'] },
  {
    resource: 'deal',
    field: 'lost_reason',
    names: [
      ...['Opted our rival', 'Price is too high', 'Junk Lead', 'Not interested', 'No Requirement'],
      ...['Need only in future', 'Product not satisfying', 'No proper follow-up', 'Appointment Missed'],
    ],
  },
  { resource: 'deal', field: 'forecast_category', names: ['Pipeline', 'Best case', 'Commit', 'Omitted'] },
  { resource: 'product', field: 'category', names: ['Hardware', 'Software'] },
]

const read = (...names: string[]) => names.map(name => `${name}:read`)
const write = (...names: string[]) => names.flatMap(name => [`${name}:read`, `${name}:write`])
const configuration = [
  ...read('pipeline', 'pipeline_stage', 'currency', 'field', 'user', 'role'),
  followScope,
]

/** The owner's role. */
export const administratorRole = 1

/** Default roles have fixed ids, like currencies: the same in every account. */
export const defaultRoles: readonly {
  readonly id: number
  readonly name: string
  readonly built_in: string
  readonly scopes: string[]
  readonly may_change?: { [resource: string]: Visibility }
}[] = [
  { id: administratorRole, name: 'Administrator', built_in: 'administrator', scopes: ['admin'] },
  {
    id: 2,
    name: 'Manager',
    built_in: 'manager',
    scopes: [
      ...write(...businessData, 'territory', 'tag'),
      ...write('token', 'webhook', 'view', 'job'),
      importScope,
      ...configuration,
    ],
  },
  {
    id: 3,
    name: 'Member',
    built_in: 'member',
    scopes: [
      ...write('deal', 'contact', 'company', 'activity', 'tag', 'token', 'webhook', 'view', 'job'),
      ...read('product', 'territory'),
      ...configuration,
    ],
    may_change: { deal: 'territory', contact: 'territory', company: 'territory', activity: 'territory' },
  },
  {
    id: 4,
    name: 'Read only',
    built_in: 'read_only',
    scopes: [
      ...read(...businessData, 'territory', 'tag', 'token', 'webhook', 'job'),
      ...write('view'),
      ...configuration,
    ],
  },
]
