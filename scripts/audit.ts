/**
 * Asks the registry whether a runtime dependency has a known vulnerability, high or critical: then it ends
 * with 1. If the registry is unreachable it prints that and ends with 0, as a check has to work offline too.
 */
import { spawnSync } from 'node:child_process'

type Report = {
  metadata?: { vulnerabilities: Record<string, number> }
  vulnerabilities?: Record<string, { severity: string }>
}

const asked = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
  encoding: 'utf8',
  timeout: 60_000,
  shell: process.platform === 'win32',
})
const report = parsed(asked.stdout)
if (!report?.metadata) {
  console.log('The registry could not be asked for known vulnerabilities; nothing was audited.')
} else {
  const grave = Object.entries(report.vulnerabilities ?? {}).filter(
    ([, { severity }]) => severity === 'high' || severity === 'critical',
  )
  for (const [name, { severity }] of grave)
    console.error(`${name}: a ${severity} vulnerability; "npm audit" tells more.`)
  if (grave.length === 0) console.log('No dependency has a known high or critical vulnerability.')
  process.exitCode = grave.length ? 1 : 0
}

function parsed(text: string): Report | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
