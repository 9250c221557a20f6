/**
 * Cuts the power of the embedded engine, as far as the disk is concerned: its directory is on a loop-mounted
 * file system; the process is stopped in the middle of its writes, the image copied (without unflushed
 * writes), and the copy mounted and read. Linux, as root: `npm run power-cut -- --rounds 20`
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  type Acknowledged,
  readyUrl,
  type Tally,
  token,
  type Unanswered,
  verify,
  write,
  writers,
} from './crash.ts'
import { judge, wrongCounts } from './on-engines.ts'

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })

async function powerCuts(rounds: number): Promise<Tally> {
  const directory = mkdtempSync(join(tmpdir(), 'dealwright-power-'))
  const [image, copy, mounted] = [
    join(directory, 'disk'),
    join(directory, 'disk-copy'),
    join(directory, 'mounted'),
  ]
  const dataDir = join(mounted, 'data')
  const known = new Map<number, Acknowledged>()
  const tally: Tally = { rounds: 0, acknowledged: 0, lost: 0, duplicated: 0, halfWritten: 0 }
  mkdirSync(mounted)
  run('truncate', '-s', '1G', image)
  run('mkfs.ext4', '-q', image)
  run('mount', '-o', 'loop', image, mounted)
  try {
    for (let round = 1; round <= rounds; round++) {
      await writeAndCut(dataDir, round, known, () => {
        run('cp', '--sparse=always', image, copy)
      })
      run('umount', mounted)
      renameSync(copy, image)
      // Mounting replays the file system's journal, opening the database PostgreSQL's.
      run('mount', '-o', 'loop', image, mounted)
      await verify({ dataDir }, known, tally)
      tally.rounds = round
      console.log(`round ${round}: ${JSON.stringify(tally)}`)
    }
  } finally {
    run('umount', mounted)
    rmSync(directory, { recursive: true, force: true })
  }
  return tally
}

/** One life of the service; `cut` is called while it is stopped in the middle of its writes. */
async function writeAndCut(
  dataDir: string,
  round: number,
  known: Map<number, Acknowledged>,
  cut: () => void,
): Promise<void> {
  const service = spawn(process.execPath, ['bin/dealwright.js'], {
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, DEALWRIGHT_TOKEN: token, SAMPLE_DATA: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const gone = new Promise(resolve => service.on('exit', resolve))
  const url = await readyUrl(service)
  const unanswered: Unanswered = new Set()
  let isAlive = true
  let isBegun = false
  const begun = () => {
    if (isBegun) return
    isBegun = true
    setTimeout(
      () => {
        service.kill('SIGSTOP')
        cut()
        isAlive = false
        service.kill('SIGKILL')
      },
      200 + Math.random() * 1500,
    )
  }
  // This process is busy with the copy while the service is stopped: answers that it receives later were sent
  // before.
  const writing = Array.from({ length: writers }, (_, writer) =>
    write(url, `r${round}w${writer}`, known, unanswered, begun, () => isAlive),
  )
  await Promise.all(writing)
  await gone
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } })
const tally = await powerCuts(Number(values.rounds))
console.log(tally)
judge(wrongCounts(tally, { zero: ['lost', 'duplicated', 'halfWritten'] }))
