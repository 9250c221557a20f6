/** Valid requests of jobs and imports, each with a job in the required state. */
import assert from 'node:assert/strict'
import type { Json } from '../../src/json.ts'
import { eventually } from './eventually.ts'
import { type Connected, v1 } from './service.ts'

type Asked = { path: string; body?: Json; headers?: { [name: string]: string } }
type Given = Pick<Connected, 'call' | 'get' | 'url' | 'token' | 'db'>

/** Action → the state that it requires. */
const states = { dry_run: 'waiting', run: 'waiting', pause: 'running', resume: 'paused', cancel: 'waiting' }

/** By the names of their operations. `product` makes one. */
export function jobRequests(
  service: Given,
  product: () => Promise<{ id: number }>,
): { [operation: string]: () => Promise<Asked> } {
  const bulk = (state: string) => bulkIn(service, product, state)
  const file = (state: string) => importIn(service, state)
  const actions = Object.entries(states).flatMap(([action, state]) => [
    [`job_${action}`, async () => ({ path: `${v1}/job/${await bulk(state)}/${action}` })] as const,
    [`import_${action}`, async () => ({ path: `${v1}/import/${await file(state)}/${action}` })] as const,
  ])
  return {
    ...Object.fromEntries(actions),
    job_list: async () => ({ path: `${v1}/job` }),
    job_get: async () => ({ path: `${v1}/job/${await bulk('waiting')}` }),
    job_revert: async () => ({ path: `${v1}/job/${await bulk('done')}/revert` }),
    import_create: async () => upload('name\nFrom a file\n'),
    import_get: async () => ({ path: `${v1}/import/${await file('waiting')}` }),
    import_update: async () => ({ path: `${v1}/import/${await file('waiting')}`, body: { values: {} } }),
    import_errors: async () => ({ path: `${v1}/import/${await file('waiting')}/errors.csv` }),
    import_revert: async () => ({ path: `${v1}/import/${await file('done')}/revert` }),
  }
}

/** The request that uploads a file of products. */
export function upload(text: string): Required<Asked> {
  const path = `${v1}/import?resource=product&format=csv`
  return { path, body: text, headers: { 'content-type': 'text/csv' } }
}

/** A bulk change in a state: after its dry run, or its run. */
async function bulkIn(
  service: Given,
  product: () => Promise<{ id: number }>,
  state: string,
): Promise<number> {
  const { id: record } = await product()
  const body = { filter: `id:eq(${record})`, changes: { quantity_in_stock: 5 } }
  const path = `${v1}/product/bulk${state === 'done' ? '' : '?dry_run=1'}`
  const made = await service.call('POST', path, body)
  assert.equal(made.status, 201, made.text)
  return settled(service, `job/${made.body.data.id}`, state)
}

export async function importIn(service: Given, state: string): Promise<number> {
  const { path, body, headers } = upload(`name\nFrom a file ${Math.random()}\n`)
  const made = await service.call('POST', path, body, headers)
  assert.equal(made.status, 201, made.text)
  const { id } = made.body.data
  if (state === 'done') await service.call('POST', `${v1}/import/${id}/run`)
  return settled(service, `import/${id}`, state)
}

/** Waits for the end of the job's phase, then puts it into the state, in which no worker takes it. */
async function settled({ get, db }: Given, path: string, state: string): Promise<number> {
  const ended = await eventually(async () => {
    const { data } = (await get(`${v1}/${path}`)).body
    return data.state !== 'running' && data
  }, 'an end of the job')
  if (ended.state !== state)
    await db.query(
      `UPDATE job SET state = $2, phase = coalesce(phase, 'run'), lease = 'nobody', leased_until = 'infinity'
       WHERE account_id = 1 AND id = $1::bigint`,
      [String(ended.id), state],
    )
  return ended.id
}
