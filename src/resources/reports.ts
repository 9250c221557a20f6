/** All reports; those of a resource in the order of the OpenAPI document. */
import { aggregateReport } from '../lists/aggregate.ts'
import { plainSums } from '../lists/aggregate-query.ts'
import type { Report } from '../lists/report.ts'
import { dealAggregate } from './deals/aggregate.ts'
import { board } from './deals/board.ts'
import { changes } from './deals/changes.ts'
import { funnel } from './deals/funnel.ts'
import { businessData } from './resources.ts'

export const reports: readonly Report[] = [
  dealAggregate,
  board,
  funnel,
  changes,
  ...businessData.filter(name => name !== 'deal').map(resource => aggregateReport(resource, plainSums)),
]
