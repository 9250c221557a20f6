/**
 * The command line of the crash scripts: `--rounds 20 --engine embedded|postgres`, default: both engines.
 * Prints each outcome, and ends with 1 if it is wrong.
 */
import { parseArgs } from 'node:util'

export type EngineName = 'embedded' | 'postgres'

/** `act` resolves to null if the engine is not installed. `wrong` lists the defects of the outcome. */
export async function onEngines<T>(
  rounds: number,
  act: (engine: EngineName, rounds: number, say: (line: string) => void) => Promise<T | null>,
  wrong: (outcome: T) => readonly string[],
): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: String(rounds) }, engine: { type: 'string' } },
  })
  for (const engine of enginesOf(values.engine)) {
    const outcome = await act(engine, Number(values.rounds), line => console.log(engine, line))
    console.log(engine, outcome ?? 'not installed')
    if (outcome) judge(wrong(outcome))
  }
}

/** The requested engines. */
export function enginesOf(given: string | undefined): readonly EngineName[] {
  if (given === undefined) return ['embedded', 'postgres']
  if (given === 'embedded' || given === 'postgres') return [given]
  throw new Error(`--engine is embedded or postgres, not ${given}`)
}

/** Makes the process end with 1 if anything is wrong. */
export function judge(wrong: readonly string[]): void {
  for (const one of wrong) console.error(`Wrong: ${one}`)
  if (wrong.length > 0) process.exitCode = 1
}

/** The counts that should be zero, and those that should not. */
export function wrongCounts<T extends object>(
  tally: T,
  { zero, some = [] }: { zero: readonly (keyof T & string)[]; some?: readonly (keyof T & string)[] },
): string[] {
  return [
    ...zero.filter(name => tally[name] !== 0).map(name => `${name} is ${tally[name]}`),
    ...some.filter(name => !tally[name]).map(name => `there is no ${name}`),
  ]
}
