/**
 * Candidates of a bench, measured in turns of one run: forwards and backwards, so that a slow minute slows
 * all of them. Compares their throughput and the processor time of a request.
 */
import { middle } from './begin.ts'
import type { Figures, Orders } from './load.ts'
import { accountTokens, type Case } from './prepare.ts'
import { ask, type Running, spent, spentBetween } from './processes.ts'

/** A service under load. `isPlain`: it has the paths of the hand-written endpoint. */
export type Candidate = {
  readonly service: Running
  readonly items: readonly Case[]
  readonly isPlain?: true
}

/** A heading, and the candidates of whose figures it is the ratio: the first to the second. */
export type Ratio = readonly [heading: string, of: Candidate, to: Candidate]

/** `inFlight` requests at once; `seconds` of each turn. */
export type Turns = { readonly turns: number; readonly seconds: number; readonly inFlight: number }

type Turn = Figures & { readonly processorMs: number }

/** Prints the latency of the first candidate and the ratios of all, for each case. */
export async function compare(
  title: string,
  candidates: readonly [Candidate, ...Candidate[]],
  ratios: readonly Ratio[],
  { turns, seconds, inFlight }: Turns,
): Promise<void> {
  const [first] = candidates
  const namesOf = ({ items }: Candidate) => items.map(({ name }) => name).join(', ')
  for (const other of candidates)
    if (namesOf(other) !== namesOf(first))
      throw new Error(`Different cases: ${namesOf(first)}; ${namesOf(other)}`)
  const headings = ratios.map(([heading]) => heading)
  const head = ['Request', 'p50 ms', 'p99 ms', ...headings]
  head.push(...headings.map(heading => `processor time, ${heading}`))
  const rows = [head, head.map((_cell, index) => (index ? '--:' : '---'))]
  for (const index of first.items.keys()) {
    const found = new Map(candidates.map(one => [one, [] as Turn[]]))
    for (const each of candidates) await load(each, index, Math.min(1, seconds), inFlight)
    for (let turn = 0; turn < turns; turn++) {
      const order = candidates.map((_each, at) => candidates[(at + turn) % candidates.length]!)
      for (const each of turn % 2 ? order.reverse() : order)
        found.get(each)!.push(await load(each, index, seconds, inFlight))
    }
    const compared = (figure: (of: Turn) => number) =>
      ratios.map(([, of, to]) =>
        spread(found.get(of)!.map((one, turn) => figure(one) / figure(found.get(to)![turn]!))),
      )
    const latencies = found.get(first)!.flatMap(figures => figures.latencies)
    latencies.sort((one, other) => one - other)
    const part = (of: number) => latencies[Math.floor(latencies.length * of)]!.toFixed(1)
    rows.push([
      ...[first.items[index]!.name, part(0.5), part(0.99)],
      ...compared(({ count, seconds }) => count / seconds),
      ...compared(({ count, processorMs }) => processorMs / count),
    ])
  }
  const text = rows.map(cells => `| ${cells.join(' | ')} |`).join('\n')
  console.log(`\n${title}, ${inFlight} in flight, ${turns} turns of ${seconds} s\n\n${text}`)
}

/** The median, minimum and maximum of the ratios. */
function spread(ratios: number[]): string {
  const sorted = ratios.sort((a, b) => a - b)
  return `${middle(sorted).toFixed(2)} (${sorted[0]!.toFixed(2)} to ${sorted.at(-1)!.toFixed(2)})`
}

async function load(candidate: Candidate, index: number, seconds: number, inFlight: number): Promise<Turn> {
  const { service, items, isPlain } = candidate
  const { method, path, plainPath, ids, body, accounts } = items[index]!
  const before = spent(service)
  const figures = await ask<Figures>('bench/load.ts', {
    ...{ port: Number(new URL(service.url).port), connections: inFlight, seconds, method, ids, body },
    path: isPlain ? plainPath : path,
    tokens: accountTokens.slice(accounts[0] - 1, accounts[1]),
    warmUp: 0,
  } satisfies Orders)
  return { ...figures, processorMs: spentBetween(before, spent(service)) }
}
