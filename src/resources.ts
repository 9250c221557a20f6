/** The resources of the service, in one list. */
import { deal } from './deals/deal.ts'
import { product } from './products/product.ts'
import type { Resource } from './records/resource.ts'

export const resources: readonly Resource[] = [deal, product]
