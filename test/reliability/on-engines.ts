/**
 * The command line of the scripts that kill: `--rounds 20 --engine embedded|postgres`, without an engine on
 * both. It prints what each came to, and ends with 1 if that is not right.
 */
import { parseArgs } from 'node:util'

export type EngineName = 'embedded' | 'postgres'

/**
 * `act` resolves to null where the engine is not installed. `wrong` says what of the outcome should not be;
 * nothing if all is right.
 */
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

/** The engines that are asked for. */
export function enginesOf(given: string | undefined): readonly EngineName[] {
  if (given === undefined) return ['embedded', 'postgres']
  if (given === 'embedded' || given === 'postgres') return [given]
  throw new Error(`--engine is embedded or postgres, not ${given}`)
}

/** Has the process end with 1 if anything is wrong. */
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
