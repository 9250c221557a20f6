/** The system's refusals in one line: the file, the message, its code. */
import assert from 'node:assert/strict'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { test } from 'node:test'
import { asStartupError, StartupError } from '../../src/db/startup-error.ts'

const messageOf = (act: () => void, folder?: string): string => {
  try {
    act()
  } catch (error) {
    const said = asStartupError(error, folder)
    assert.ok(said instanceof StartupError)
    assert.equal(said.cause, error)
    return said.message
  }
  throw new Error('nothing was refused')
}

test('a refused file is named with the reason, and with what to do', () => {
  assert.equal(
    messageOf(() => mkdirSync('/etc/passwd/data')),
    "/etc/passwd/data can't be used: not a directory (ENOTDIR). A file is in the place of a directory.",
  )
  assert.equal(
    messageOf(() => renameSync('/nowhere/a', '/nowhere/b')),
    "/nowhere/a → /nowhere/b can't be used: no such file or directory (ENOENT).",
  )
})

test('a full disk names no path', { skip: process.platform !== 'linux' && 'no /dev/full' }, () => {
  assert.equal(
    messageOf(() => writeFileSync('/dev/full', 'x')),
    "A file that is open (write) can't be used: no space left on device (ENOSPC). " +
      'Make room on the disk that "df -h" shows as full.',
  )
  assert.match(
    messageOf(() => writeFileSync('/dev/full', 'x'), '/dev/pts/data'),
    /\(ENOSPC\)\. Make room on the disk; this shows what takes it: du -xh '\/dev\/pts' \| sort -h \| tail$/,
  )
})

test('other errors stay as they are', async () => {
  const socket = connect(1, '127.0.0.1')
  const refused = await new Promise(resolve => socket.once('error', resolve))
  for (const error of [new Error('x'), 'x', null, refused]) assert.equal(asStartupError(error), error)
})
