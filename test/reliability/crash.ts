/**
 * Kills the service while it works, over and over, on a new database of each engine, and counts what is wrong
 * afterwards. `npm run crash -- writes imports --rounds 20 --engine embedded|postgres`; default: all that can
 * be killed, on both engines. Ends with 1 if anything is wrong.
 */
import { parseArgs } from 'node:util'
import { cluster } from './cluster.ts'
import { copies } from './copies.ts'
import { imports } from './imports.ts'
import { enginesOf, judge, onEngine, type Scenario } from './on-engines.ts'
import { powerCut } from './power-cut.ts'
import { processes } from './processes.ts'
import { webhooks } from './webhooks.ts'
import { writes } from './writes.ts'

const scenarios: { readonly [name: string]: Scenario } = {
  ...{ writes, copies, imports, webhooks },
  'power-cut': powerCut,
  ...{ processes, cluster },
}

const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string' }, engine: { type: 'string' } },
  allowPositionals: true,
})
for (const name of positionals.length ? positionals : Object.keys(scenarios)) {
  const scenario = scenarios[name]
  if (!scenario) throw new Error(`There is no ${name}, but ${Object.keys(scenarios).join(', ')}`)
  await carryOut(name, scenario)
}

async function carryOut(name: string, scenario: Scenario): Promise<void> {
  const { act, engines, needs, zero, some } = scenario
  if (needs) return console.log(name, `needs ${needs}`)
  const rounds = Number(values.rounds ?? scenario.rounds)
  for (const engine of enginesOf(values.engine).filter(one => engines?.includes(one) ?? true)) {
    const tally = await onEngine(engine, target =>
      act(target, rounds, line => console.log(name, engine, line)),
    )
    console.log(name, engine, tally ?? 'not installed')
    if (!tally) continue
    judge([
      ...zero.filter(count => tally[count] !== 0).map(count => `${count} is ${tally[count]}`),
      ...some.filter(count => !tally[count]).map(count => `there is no ${count}`),
    ])
  }
}
