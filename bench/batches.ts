/**
 * `npm run bench:batches [-- --seconds 2 --turns 6 --engine postgres,embedded]`: deals created in batches of
 * five hundred (D78), two at once, with existing and with new contacts, beside deals created by requests of
 * their own, 32 in flight, in turns of one run. Prints the records a second as ratios. See
 * docs/performance.md.
 */
import { compareKinds, type Kind } from './kinds-of-writes.ts'

const deals = '/rest/api/v1/deal'
const records = 500

await compareKinds(async asked => {
  const first = async (resource: string, filter = '') =>
    ((await asked('GET', `${resource}/view/list?pageSize=1${filter}`)) as { id: number }[])[0]!.id
  const { id: primary_contact } = (await asked('POST', 'contact', { last_name: 'First' })) as { id: number }
  const [pipeline, pipeline_stage] = [
    await first('pipeline'),
    await first('pipeline_stage', '&filter=name:eq(New)'),
  ]
  const sales_owner = await first('user')
  const deal = (title: string) => {
    const value = { value: 1250.5, currency: 'EUR' }
    return { title, pipeline, pipeline_stage, primary_contact, sales_owner, deal_value: value }
  }
  const batchOf = (more: (index: number) => object) => ({
    ...{ method: 'POST', path: `${deals}/batch`, ids, inFlight: 2, records },
    body: JSON.stringify({
      operations: Array.from({ length: records }, (_, index) => ({
        op: 'create',
        data: { ...deal(`Deal {n}-${index}`), ...more(index) },
      })),
    }),
  })
  const ids: Kind['ids'] = [1, 2]
  return [
    { name: 'create', method: 'POST', path: deals, ids, body: JSON.stringify(deal('Deal {n}')) },
    { name: `batch of ${records} creates`, ...batchOf(() => ({})) },
    {
      name: `batch of ${records} creates, each with a new contact`,
      ...batchOf(index => ({ primary_contact: { last_name: `New {n}-${index}` } })),
    },
  ]
})
