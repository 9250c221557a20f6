/** A browser's user agent, in words. Pure. */

const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['HeadlessChrome/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const
const systems = [
  ['Windows', 'Windows'],
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS', 'Mac'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const

/** "Firefox on Windows"; as far as it is known. */
export function browserName(agent: string | null): string {
  if (!agent) return 'Unknown browser'
  const find = (known: readonly (readonly [string, string])[]) =>
    known.find(([mark]) => agent.includes(mark))?.[1]
  const [browser, system] = [find(browsers), find(systems)]
  if (!browser) return agent.slice(0, 60)
  return system ? `${browser} on ${system}` : browser
}
