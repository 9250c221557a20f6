/**
 * Preloaded into the programs that tests start (test/run.ts). They end within seconds, so optimizing the
 * engine's code costs them more than it saves. Tests themselves open many engines in one process and have a
 * budget for that.
 */
import { setFlagsFromString } from 'node:v8'

if (!process.execArgv.some(flag => flag.startsWith('--wasm-tiering-budget'))) {
  setFlagsFromString('--no-wasm-tier-up')
  setFlagsFromString('--no-wasm-dynamic-tiering')
}
