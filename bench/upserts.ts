/**
 * `npm run bench:upserts [-- --seconds 1 --turns 10 --engine postgres,embedded]`: upserts of products by a
 * unique field (D77) beside plain creates, 32 in flight, in turns of one run: those that create, and those
 * that update. Prints the throughput as ratios. See docs/performance.md.
 */
import { type Asked, compareKinds, type Kind } from './kinds-of-writes.ts'

const products = '/rest/api/v1/product'
const byCode = { method: 'PUT', path: `${products}/by/product_code/up-{id}`, body: '{"name":"Product {n}"}' }
const few: Kind['ids'] = [1, 500]
const kinds: readonly Kind[] = [
  {
    ...{ name: 'create', method: 'POST', path: products, ids: few },
    body: '{"name":"Product {n}","product_code":"new-{n}"}',
  },
  { ...byCode, name: 'upsert that creates', ids: [1_000_000, 2_000_000_000] },
  { ...byCode, name: 'upsert that updates', ids: few },
]

await compareKinds(async asked => {
  await tellByCode(asked)
  return kinds
})

/** Makes the code of products a unique field. */
async function tellByCode(asked: Asked): Promise<void> {
  const { fields } = (await asked('GET', 'field/list?source=product')) as {
    fields: { id: number; internal_name: string }[][]
  }
  const code = fields.flat().find(({ internal_name: name }) => name === 'product_code')!
  await asked('PATCH', `field/${code.id}`, { is_unique: true })
}
