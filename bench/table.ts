/** The results as a table: requests a second, latencies, and the ratios with their targets. */

export type Slice = {
  readonly count: number
  readonly seconds: number
  readonly latencies?: readonly number[]
}

export type Measured = {
  readonly name: string
  readonly aims: { readonly pgbench?: number; readonly plain?: number }
  /** the service, the driver alone, the hand-written endpoint, pgbench; empty if it was not measured */
  readonly ours: Slice[]
  readonly alone: Slice[]
  readonly hand: Slice[]
  readonly limit: Slice[]
}

const head = `| Request | per second | p50 ms | p99 ms | of pgbench | of the driver alone | of plain Fastify + pg |
|---|--:|--:|--:|--:|--:|--:|`

export function table(title: string, measured: readonly Measured[]): string {
  return `\n${title}\n\n${head}\n${measured.map(row).join('\n')}`
}

function row({ name, aims, ours, alone, hand, limit }: Measured): string {
  const latencies = ours.flatMap(slice => slice.latencies ?? []).sort((one, other) => one - other)
  const at = (part: number) => (latencies[Math.floor(latencies.length * part)] ?? 0).toFixed(1)
  const rate = perSecond(ours)
  const ratio = (others: readonly Slice[], aim?: number) => {
    if (others.length === 0) return '–'
    const value = rate / perSecond(others)
    const verdict = aim === undefined ? '' : `, aim ${aim} ${value >= aim ? '✓' : '✗'}`
    return `${value.toFixed(2)} (of ${Math.round(perSecond(others))}${verdict})`
  }
  const cells = [
    name,
    Math.round(rate),
    at(0.5),
    at(0.99),
    ratio(limit, aims.pgbench),
    ratio(alone),
    ratio(hand, aims.plain),
  ]
  return `| ${cells.join(' | ')} |`
}

function perSecond(slices: readonly Slice[]): number {
  const sum = (of: (slice: Slice) => number) => slices.reduce((total, slice) => total + of(slice), 0)
  const count = sum(slice => slice.count)
  if (count === 0) throw new Error('Nothing was answered, so there is no ratio')
  return count / sum(slice => slice.seconds)
}
