/** Sample deals for an empty account: a file that is imported, and undone, like any other. */
import { addDays } from '../activities/next-days.ts'
import { callApi, type Me } from '../api/api.ts'
import {
  currenciesQuery,
  defaultPipeline,
  pipelinesQuery,
  queryClient,
  type Stage,
  stagesQuery,
} from '../api/queries.ts'
import { stageKinds } from '../api/stage-kind.ts'
import { upload } from '../api/upload.ts'
import type { Import } from '../imports/import.ts'
import { jobKey, sendJobAction } from '../jobs/job.ts'

const columns = [
  ...['Title', 'Company', 'Contact', 'Contact email', 'Deal value', 'Currency', 'Pipeline stage'],
  'Expected close date',
]

/** title, company, contact, value, days until its expected close */
const deals = [
  ['Website relaunch', 'Nordwind Travel', 'Mia Berg', 12_000, 20],
  ['Yearly support', 'Harbour Coffee', 'Tom Reyes', 4_800, 12],
  ['Fleet tracking', 'Alder Logistics', 'Ines Costa', 36_500, 45],
  ['Point of sale, 8 shops', 'Juniper Books', 'Sam Okoye', 21_400, 30],
  ['Office move', 'Lindqvist Partners', 'Eva Lindqvist', 7_900, 8],
  ['Training for two teams', 'Bright Dental', 'Noor Haddad', 3_200, 15],
  ['Solar panels, warehouse', 'Alder Logistics', 'Ines Costa', 88_000, 90],
  ['Newsletter and campaign', 'Harbour Coffee', 'Tom Reyes', 2_600, 25],
  ['Booking app', 'Nordwind Travel', 'Mia Berg', 54_000, 60],
  ['Shelves and lighting', 'Juniper Books', 'Sam Okoye', 9_750, 35],
] as const

/** Begins the import: deals of the user, in the default pipeline and the account's currency. */
export async function importSampleDeals(today: string, { account, user }: Me): Promise<Import> {
  const [pipelines, stages, currencies] = await Promise.all([
    queryClient.ensureQueryData(pipelinesQuery),
    queryClient.ensureQueryData(stagesQuery),
    queryClient.ensureQueryData(currenciesQuery),
  ])
  const pipeline = defaultPipeline(pipelines)?.id ?? null
  const open = stages.filter(stage => stage.pipeline === pipeline && stage.kind === stageKinds.open)
  const code = currencies.find(({ id }) => id === account.base_currency)?.code ?? 'USD'
  const file = new Blob([fileOf(today, code, open)], { type: 'text/csv' })
  const query = new URLSearchParams({ resource: 'deal', format: 'csv', name: 'Sample deals.csv' })
  const sending = { onProgress() {}, signal: new AbortController().signal }
  const made = await upload<Import>(`/import?${query}`, file, 'text/csv', sending)
  const defaults = { pipeline, sales_owner: user.id }
  const job = await callApi<Import>('PATCH', `/import/${made.id}`, { body: { defaults } })
  queryClient.setQueryData(jobKey(job.id), job)
  await sendJobAction(job, 'run')
  return job
}

function fileOf(today: string, code: string, stages: readonly Stage[]): string {
  const rows = deals.map(([title, company, contact, value, days], index) => {
    const email = `${contact.toLowerCase().replace(' ', '.')}@example.com`
    const stage = stages[index % stages.length]?.name ?? ''
    return [title, company, contact, email, value, code, stage, addDays(today, days)]
  })
  return [columns, ...rows]
    .map(row => row.map(cell => `"${`${cell}`.replaceAll('"', '""')}"`).join())
    .join('\n')
}
