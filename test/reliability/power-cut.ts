/**
 * Cuts the power of the embedded engine, as far as the disk is concerned: its directory is on a loop-mounted
 * file system; the process is stopped in the middle of its writes, the image copied (without unflushed
 * writes), and the copy mounted and read.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Scenario } from './on-engines.ts'
import { started } from './service-process.ts'
import { Known, verify, writeAndKill } from './writes.ts'

const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })

export const powerCut: Scenario = {
  rounds: 20,
  zero: ['lost', 'duplicated', 'halfWritten'],
  some: ['acknowledged'],
  engines: ['embedded'],
  needs: process.platform === 'linux' && process.getuid?.() === 0 ? null : 'root on Linux',
  async act({ directory, env }, rounds, say) {
    const at = (name: string) => join(directory, name)
    const [image, copy, mounted] = [at('disk'), at('disk-copy'), at('mounted')]
    const dataDir = join(mounted, 'data')
    const known = new Known()
    mkdirSync(mounted)
    run('truncate', '-s', '1G', image)
    run('mkfs.ext4', '-q', image)
    run('mount', '-o', 'loop', image, mounted)
    try {
      for (let round = 1; round <= rounds; round++) {
        const life = await started({ ...env, DATA_DIR: dataDir })
        await writeAndKill(life, round, known, () => {
          life.service.kill('SIGSTOP')
          // This process is busy meanwhile: answers that it receives later were sent before.
          run('cp', '--sparse=always', image, copy)
          life.service.kill('SIGKILL')
        })
        run('umount', mounted)
        renameSync(copy, image)
        // Mounting replays the file system's journal, opening the database PostgreSQL's.
        run('mount', '-o', 'loop', image, mounted)
        await verify({ dataDir }, known)
        say(`round ${round}: ${JSON.stringify(known.tally)}`)
      }
    } finally {
      run('umount', mounted)
    }
    return known.tally
  },
}
