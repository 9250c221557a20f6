#!/usr/bin/env node
import { existsSync } from 'node:fs'
import * as module from 'node:module'
import { fileURLToPath } from 'node:url'

// Plain JavaScript, so that a Node.js too old for the rest can say so in one clear line. A release has
// JavaScript beside this file, a checkout TypeScript.
const isRelease = existsSync(new URL('../src/main.js', import.meta.url))
const needed = isRelease ? [20, 19] : [24, 7]
const [major, minor] = process.versions.node.split('.').map(Number)
if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  const advice = isRelease ? '' : ' "npm ci && npm start" brings its own.'
  console.error(
    `Dealwright needs Node.js ${needed.join('.')} or newer; this is ${process.versions.node}.${advice}`,
  )
  process.exit(1)
}
// The next start finds the code compiled: it needs a third less memory and is quicker.
const cache = fileURLToPath(new URL('../node_modules/.cache/dealwright-code', import.meta.url))
module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE ?? cache)
const { main } = await import(isRelease ? '../src/main.js' : '../src/main.ts')
await main(process.argv.slice(2))
