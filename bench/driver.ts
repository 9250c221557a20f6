/** The same statements through the driver alone, 32 in flight: what HTTP, validation and everything else add. A process of its own. */
import { openDatabase } from '../src/db/open.ts'

export type Statement = { readonly text: string; readonly params: readonly (string | null)[]; readonly isWrite: boolean }
export type DriverOrders = {
  readonly open: { url?: string; dataDir?: string }
  readonly seconds: number
  /** carried out one after the other for each request; {id} among the parameters becomes a random id */
  readonly statements: readonly Statement[]
  readonly ids: readonly [from: number, to: number]
}

const orders = JSON.parse(process.argv[2]!) as DriverOrders
const db = await openDatabase({ ...orders.open, log: () => {} })
const end = performance.now() + orders.seconds * 1000
const began = performance.now()
let count = 0
await Promise.all(Array.from({ length: 32 }, worker))
console.log(JSON.stringify({ perSecond: count / ((performance.now() - began) / 1000) }))
await db.close()

async function worker(): Promise<void> {
  while (performance.now() < end) {
    const id = String(orders.ids[0] + Math.floor(Math.random() * (orders.ids[1] - orders.ids[0] + 1)))
    for (const { text, params, isWrite } of orders.statements) {
      const real = params.map(param => (param === '{id}' ? id : param))
      await (isWrite ? db.write('1', text, real) : db.query(text, real))
    }
    count++
  }
}
