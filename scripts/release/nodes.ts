/**
 * `npm run nodes`: installs the other versions of Node.js that a release is for, where its test finds them
 * (node_modules/.cache/nodes). They come from npm, as the project's own does.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

for (const line of ['20.19.0', '22']) {
  const folder = join('node_modules/.cache/nodes', line)
  if (existsSync(join(folder, 'node_modules/node/bin/node'))) continue
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{}')
  const name = `node@npm:node-${process.platform}-${process.arch}@${line}`
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-save', name], {
    cwd: folder,
    stdio: 'inherit',
    env: Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key))),
  })
}
