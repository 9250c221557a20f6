/** What a browser tells of a page: when it painted, what shifted or held it up, and the memory it takes. */
import type { Page } from 'playwright-core'

/** An entry of the browser's timeline; the last two are those of layouts that shifted. */
type Entry = {
  readonly startTime: number
  readonly duration: number
  readonly value: number
  readonly hadRecentInput: boolean
}

export type Painted = {
  /** when anything was painted first, in milliseconds */
  readonly first: number
  /** the score of layouts that shifted (CLS), without unit */
  readonly shifted: number
  /** the longest task since then, in milliseconds; 0 where none took over 50 */
  readonly longest: number
}

/** How the page came, a second after what was waited for. */
export async function paintedOf(page: Page): Promise<Painted> {
  await page.waitForTimeout(1000)
  return page.evaluate(async () => {
    const seen = (type: string) =>
      new Promise<readonly Entry[]>(resolve => {
        const observer = new PerformanceObserver(list => resolve(list.getEntries() as never))
        observer.observe({ type: type as never, buffered: true })
        setTimeout(() => resolve([]), 200)
      })
    const first = performance.getEntriesByName('first-contentful-paint')[0]!.startTime
    const shifts = await seen('layout-shift')
    const tasks = (await seen('longtask')).filter(({ startTime }) => startTime >= first)
    return {
      first: Math.round(first),
      shifted: shifts.reduce((sum, { value, hadRecentInput }) => sum + (hadRecentInput ? 0 : value), 0),
      longest: Math.round(Math.max(0, ...tasks.map(({ duration }) => duration))),
    }
  })
}

/** Acts while the page's processor is so many times as slow. */
export async function slowed<T>(page: Page, rate: number, act: () => Promise<T>): Promise<T> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate })
  try {
    return await act()
  } finally {
    await session.send('Emulation.setCPUThrottlingRate', { rate: 1 })
    await session.detach()
  }
}

/** The memory of the page's scripts after everything unused was given back, in megabytes. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return Math.round(usedSize / 1e6)
}
