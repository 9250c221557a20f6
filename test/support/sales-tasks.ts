/**
 * Forty tasks as a sales person gives them to an agent: the calls by which a script solves them, with what
 * earlier answers said, and the changes of records that are expected.
 */
import type { Json } from '../../src/json.ts'

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape is known to the task
export type Answers = any[]
type Step = readonly [tool: string, args: { readonly [name: string]: Json }]

export type Task = {
  readonly ask: string
  readonly steps: readonly (Step | ((answers: Answers) => Step))[]
  /** type of each event, with the fields that matter; none: nothing changes */
  readonly changes?: readonly string[]
  /** what one of the answers must say */
  readonly answer?: RegExp
}

/** The second step of a write: the code of the last answer. */
const confirmed = (tool: string) => (answers: Answers) => [tool, { code: answers.at(-1).code }] as const

/** Takes back the change that the last answer tells. */
const takenBack = [
  (answers: Answers) => ['undo', { change: answers.at(-1).change }] as const,
  confirmed('undo'),
]

const update = (args: { [name: string]: Json }) => [['update', args] as const, confirmed('update')]
const create = (args: { [name: string]: Json }) => [['create', args] as const, confirmed('create')]
const log = (args: { [name: string]: Json }) => [['log_activity', args] as const, confirmed('log_activity')]

export const tasks: readonly Task[] = [
  {
    ask: 'Who am I here, and what may you do?',
    steps: [['describe', {}]],
    answer: /owner@example\.com/,
  },
  {
    ask: 'Show me my five largest open deals.',
    steps: [
      [
        'list',
        { resource: 'deal', where: ['owner is me', 'status is Open'], sort: 'deal_value desc', limit: 5 },
      ],
    ],
    answer: /"shown":5/,
  },
  {
    ask: 'What is the state of the Brightline rooftop deal?',
    steps: [['get', { resource: 'deal', record: 'Brightline rooftop' }]],
    answer: /"pipeline_stage":"Proposal".*"EUR 42000"/,
  },
  {
    ask: 'What do we have with Halden Foods?',
    steps: [['list', { resource: 'deal', where: ['company is Halden Foods'] }]],
    answer: /Halden cold chain.*|Halden pilot/,
  },
  {
    ask: 'What is the e-mail of Cleo Marsh?',
    steps: [['get', { resource: 'contact', record: 'Cleo Marsh', fields: ['emails'] }]],
    answer: /cleo\.marsh@example\.com/,
  },
  {
    ask: 'Which of Sam’s deals are over 10 000 pounds?',
    steps: [['list', { resource: 'deal', where: ['owner is Sam Ode', 'deal_value over 10000 GBP'] }]],
    answer: /"found":1.*Orbit sensors/,
  },
  {
    ask: 'How much is in each stage?',
    steps: [['report', { report: 'sums', group_by: ['stage'], where: ['status is Open'] }]],
    answer: /"Negotiation"/,
  },
  {
    ask: 'What should close in the next months?',
    steps: [['report', { report: 'forecast' }]],
    answer: /"weighted"/,
  },
  {
    ask: 'Where do we lose deals?',
    steps: [['report', { report: 'funnel' }]],
    answer: /"lost_from"/,
  },
  {
    ask: 'Who wins the most?',
    steps: [['report', { report: 'sums', group_by: ['owner'], where: ['status is Won'] }]],
    answer: /"sales_owner"/,
  },
  {
    ask: 'What is to be done for the Brightline rooftop deal?',
    steps: [['list', { resource: 'activity', where: ['deal is Brightline rooftop', 'done_at is empty'] }]],
    answer: /Send the offer/,
  },
  {
    ask: 'Which stages are there, and which fields must a deal have?',
    steps: [
      ['describe', {}],
      ['describe', { resource: 'deal' }],
    ],
    answer: /required/,
  },
  {
    ask: 'Move Brightline rooftop to negotiation.',
    steps: update({ resource: 'deal', record: 'Brightline rooftop', values: { stage: 'Negotiation' } }),
    changes: ['deal.updated pipeline_stage=Negotiation'],
  },
  {
    ask: 'The rooftop deal is worth 45 000 euros now.',
    steps: update({
      resource: 'deal',
      record: 'Brightline rooftop',
      values: { deal_value: { currency: 'EUR', value: 45_000 } },
    }),
    changes: ['deal.updated deal_value=EUR 45000'],
  },
  {
    ask: 'Give Halden pilot to Sam.',
    steps: update({ resource: 'deal', record: 'Halden pilot', values: { owner: 'Sam Ode' } }),
    changes: ['deal.updated sales_owner=Sam Ode'],
  },
  {
    ask: 'Halden pilot will close at the end of May 2027.',
    steps: update({
      resource: 'deal',
      record: 'Halden pilot',
      values: { expected_close_date: '2027-05-31' },
    }),
    changes: ['deal.updated expected_close_date=2027-05-31'],
  },
  {
    ask: 'I called Ana Silva about the service plan for ten minutes; she wants an offer.',
    steps: log({
      kind: 'Call',
      subject: 'She wants an offer',
      contact: 'Ana Silva',
      deal: 'Brightline service plan',
      duration: 10,
    }),
    changes: ['activity.created contact=Ana Silva deal=Brightline service plan duration=10 kind=Call'],
  },
  {
    ask: 'Remind me tomorrow to send Ana the offer.',
    steps: log({ kind: 'Task', subject: 'Send Ana the offer', contact: 'Ana Silva', due: 'tomorrow' }),
    changes: ['activity.created contact=Ana Silva kind=Task owner=Owner'],
  },
  {
    ask: 'Ask Priya to check the contract of Halden cold chain by Friday 2027-01-15.',
    steps: log({
      kind: 'Task',
      subject: 'Check the contract',
      deal: 'Halden cold chain',
      owner: 'Priya Nair',
      due: '2027-01-15',
    }),
    changes: ['activity.created deal=Halden cold chain due_at=2027-01-15T09:00:00.000Z owner=Priya Nair'],
  },
  {
    ask: 'Note on Orbit sensors: budget is approved.',
    steps: log({ kind: 'Note', subject: 'Budget', notes: 'The budget is approved.', deal: 'Orbit sensors' }),
    changes: ['activity.created deal=Orbit sensors kind=Note notes=The budget is approved.'],
  },
  {
    ask: 'We won Halden cold chain today, because of the price.',
    steps: update({ resource: 'deal', record: 'Halden cold chain', close: { as: 'won', reason: 'Price' } }),
    changes: ['deal.updated pipeline_stage=Won won_reason=Price'],
  },
  {
    ask: 'Halden pilot is lost: they have no requirement any more.',
    steps: update({
      resource: 'deal',
      record: 'Halden pilot',
      close: { as: 'lost', reason: 'No Requirement' },
    }),
    changes: ['deal.updated lost_reason=No Requirement pipeline_stage=Lost'],
  },
  {
    ask: 'No, Halden pilot was not lost. Take that back.',
    steps: [
      ['history', { resource: 'deal', record: 'Halden pilot', limit: 1 }],
      answers => ['undo', { event: answers[0].rows[0][0] }],
      confirmed('undo'),
    ],
    changes: ['deal.updated lost_reason=null pipeline_stage=Qualified'],
  },
  {
    ask: 'Add a company, Tern Shipping, with the site tern.example.',
    steps: create({
      resource: 'company',
      values: { name: 'Tern Shipping', website: 'https://tern.example' },
    }),
    changes: ['company.created name=Tern Shipping'],
  },
  {
    ask: 'Add Dora Finch of Tern Shipping, dora@tern.example.',
    steps: create({
      resource: 'contact',
      values: {
        ...{ first_name: 'Dora', last_name: 'Finch', company: 'Tern Shipping' },
        emails: [{ email_type: 'Work', email_value: 'dora@tern.example' }],
      },
    }),
    changes: ['contact.created company=Tern Shipping last_name=Finch'],
  },
  {
    ask: 'Open a deal with Dora: port scanners, 12 000 dollars, new, mine.',
    steps: create({
      resource: 'deal',
      values: {
        ...{ title: 'Port scanners', pipeline: 'Sales pipeline', stage: 'New', owner: 'me' },
        ...{ primary_contact: 'Dora Finch', company: 'Tern Shipping' },
        deal_value: { currency: 'USD', value: 12_000 },
      },
    }),
    changes: [
      'deal.created company=Tern Shipping deal_value=USD 12000 primary_contact=Dora Finch title=Port scanners',
    ],
  },
  {
    ask: 'Open a deal with somebody new: Eli Park of Parkside, lamps, 700 euros.',
    steps: create({
      resource: 'deal',
      values: {
        ...{ title: 'Lamps', pipeline: 'Sales pipeline', stage: 'New', owner: 'me' },
        ...{ primary_contact: { last_name: 'Park', first_name: 'Eli' }, company: { name: 'Parkside' } },
        deal_value: { currency: 'EUR', value: 700 },
      },
    }),
    changes: ['company.created', 'contact.created', 'deal.created title=Lamps'],
  },
  {
    ask: 'Which proposals are stale?',
    steps: [
      [
        'list',
        {
          resource: 'deal',
          where: [
            'stage is Proposal',
            'company is Orbit Labs',
            'deal_stage_updated_at is older than 60 days',
          ],
        },
      ],
    ],
    answer: /"found":2/,
  },
  {
    ask: 'Move Orbit’s stale proposals back to qualified.',
    steps: update({
      resource: 'deal',
      where: ['stage is Proposal', 'company is Orbit Labs', 'deal_stage_updated_at is older than 60 days'],
      values: { stage: 'Qualified' },
    }),
    changes: ['deal.updated pipeline_stage=Qualified', 'deal.updated pipeline_stage=Qualified'],
  },
  {
    ask: 'And tell Priya why.',
    steps: log({
      kind: 'Note',
      subject: 'Two Orbit deals moved back',
      notes: 'No change for 60 days.',
      owner: 'Priya Nair',
      company: 'Orbit Labs',
    }),
    changes: ['activity.created company=Orbit Labs kind=Note owner=Priya Nair'],
  },
  {
    ask: 'Give all of Sam’s Orbit deals the source Referral, then take that back.',
    steps: [
      ...update({
        resource: 'deal',
        where: ['owner is Sam Ode', 'company is Orbit Labs'],
        values: { source: 'Referral' },
      }),
      ...takenBack,
    ],
    changes: [...Array(3).fill('deal.updated source=Referral'), ...Array(3).fill('deal.updated source=null')],
  },
  {
    ask: 'What did agents change today?',
    steps: [['history', { by: 'agents', limit: 20 }]],
    answer: /by Test agent/,
  },
  {
    ask: 'Who moved Brightline rooftop, and when?',
    steps: [['history', { resource: 'deal', record: 'Brightline rooftop' }]],
    answer: /Stage: Proposal → Negotiation/,
  },
  {
    ask: 'Is there a contact with the address ben.adler@example.com?',
    steps: [['search', { text: 'ben.adler@example.com', resources: ['contact'] }]],
    answer: /"found":1/,
  },
  {
    ask: 'What does the Edge Gateway cost?',
    steps: [['get', { resource: 'product', record: 'Edge Gateway', fields: ['unit_price'] }]],
    answer: /"USD /,
  },
  {
    ask: 'Put two Edge Gateways on the service plan.',
    steps: update({
      resource: 'deal',
      record: 'Brightline service plan',
      values: { deal_value: { currency: 'USD', products: [{ product: 'Edge Gateway', quantity: 2 }] } },
    }),
    changes: ['deal.updated product_quantity=2'],
  },
  {
    ask: 'Ana is now Head of Purchasing.',
    steps: update({ resource: 'contact', record: 'Ana Silva', values: { job_title: 'Head of Purchasing' } }),
    changes: ['contact.updated job_title=Head of Purchasing'],
  },
  {
    ask: 'The task to send the offer is done.',
    steps: [
      [
        'list',
        {
          resource: 'activity',
          where: ['subject is Send the offer', 'done_at is empty', 'deal is Brightline rooftop'],
        },
      ],
      answers => [
        'update',
        { resource: 'activity', record: answers[0].rows[0][0], values: { done_at: '2026-11-01T10:00:00Z' } },
      ],
      confirmed('update'),
    ],
    changes: ['activity.updated done_at=2026-11-01T10:00:00.000Z'],
  },
  {
    ask: 'Which open deals have no close date? How many are they by owner?',
    steps: [
      [
        'report',
        {
          report: 'sums',
          group_by: ['owner'],
          measures: ['count'],
          where: ['status is Open', 'expected_close_date is empty'],
        },
      ],
    ],
    answer: /"count"/,
  },
  {
    ask: 'Set the close date of my open deals without one to the end of June 2027.',
    steps: update({
      resource: 'deal',
      where: [
        'owner is me',
        'status is Open',
        'expected_close_date is empty',
        'company is one of Brightline Energy, Tern Shipping, Parkside',
      ],
      values: { expected_close_date: '2027-06-30' },
    }),
    changes: Array(3).fill('deal.updated expected_close_date=2027-06-30'),
  },
]
