/** The samples of every field kind, each with a field to try it in. */
import assert from 'node:assert/strict'
import { type FieldType, kinds } from '../../src/fields/kinds.ts'
import type { Resource } from '../../src/fields/resource.ts'
import type { Json } from '../../src/json.ts'
import { type Samples, samples } from './kind-samples.ts'
import { type Service, v1 } from './service.ts'

export type Tried = Pick<Samples, 'good' | 'bad'> & {
  readonly type: FieldType
  readonly resource: 'deal' | 'product'
  readonly field: string
}

/**
 * The samples of each type, on the resource they name; those of custom fields on deals and on products. A
 * type without a named field gets custom fields of it.
 */
export async function triedSamples({ call, known }: Pick<Service, 'call' | 'known'>): Promise<Tried[]> {
  const made: Tried[] = []
  for (const [type, sample] of Object.entries(samples(known)) as [FieldType, Samples | null][]) {
    if (!sample) continue
    const { resource = 'deal', field, good, bad } = sample
    // Custom fields are the same on every resource, except for the ids of their options.
    const isEverywhere = (field?.startsWith('cf_') ?? true) && !kinds[type].hasOptions
    for (const on of isEverywhere ? (['deal', 'product'] as const) : [resource])
      made.push({ type, resource: on, field: field ?? (await customField(call, on, type)), good, bad })
  }
  return made
}

async function customField(call: Service['call'], source: string, type: FieldType): Promise<string> {
  const reply = await call('POST', `${v1}/field`, { source, field_name: `Sample of ${type}`, type })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.internal_name
}

/** Values that fields of a resource accept beyond their kinds. */
const particular: { readonly [resource: string]: { readonly [field: string]: Json } } = {
  webhook: { url: 'https://example.com/hook', events: ['deal.*'], filter: 'title:like(a)', is_active: 2 },
  view: {
    ...{ source: 'deal', mode: 'Board', filter: 'title:like(a)', sort: 'title:asc', pipeline: null },
    columns: [{ field: 'title', width: 240, is_pinned: true }, { field: 'deal_value' }],
    ...{ is_shared: 'Yes', position: 3 },
  },
}

/** A body with a good value in every writable field. */
export async function sampleBody(
  { get, known }: Pick<Service, 'get' | 'known'>,
  { name: resource, fields }: Resource,
): Promise<{ [name: string]: Json }> {
  const body: { [name: string]: Json } = {}
  for (const { internal_name: name, type, related, is_read_only } of fields) {
    const good = samples(known)[type]?.good[0]?.input
    if (is_read_only || good === undefined) continue
    if (related === null) body[name] = good
    else {
      const [first] = (await get(`${v1}/${related}/view/list?pageSize=1`)).body.data
      body[name] = Array.isArray(good) ? [first.id] : first.id
    }
  }
  return { ...body, ...particular[resource] }
}
