/** The metrics of several processes as those of one program: sums, and the largest of what all read alike. */
import { AggregatorRegistry, type Registry } from 'prom-client'
import { contentType, type Metrics, type MetricsJson } from './metrics.ts'

export type AllMetrics = Pick<Metrics, 'contentType' | 'text'> & {
  /** Keeps the counts of a process that ended, so that no sum falls. `last`: its last metrics. */
  keep(last: MetricsJson): void
}

/** `readAll`: the metrics of each process that lives. */
export function allMetrics(readAll: () => Promise<readonly MetricsJson[]>): AllMetrics {
  let ended: Promise<MetricsJson> = Promise.resolve([])
  return {
    contentType,
    async text() {
      const living = await readAll()
      return summed([await ended, ...living]).metrics()
    },
    keep(last) {
      const counts = last.filter(({ type }) => type === countType || type === histogramType)
      ended = ended.then(before => summed([before, counts]).getMetricsAsJSON() as Promise<MetricsJson>)
    },
  }
}

// The library tells types by name, though its own types say that they are numbers.
const [countType, histogramType] = ['counter', 'histogram'] as unknown as MetricsJson[number]['type'][]

/** The library's types know neither what it takes here nor OpenMetrics. */
function summed(all: readonly MetricsJson[]): Registry<typeof contentType> {
  const aggregate = AggregatorRegistry.aggregate as (all: never, type: string) => unknown
  return aggregate(all as never, contentType) as Registry<typeof contentType>
}
