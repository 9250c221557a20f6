/** Measures a page in the browser: first paint, layout shifts, long tasks and memory. */
import type { Page } from 'playwright-core'

/** An entry of the browser's timeline; the last two members are those of layout shifts. */
type Entry = {
  readonly startTime: number
  readonly duration: number
  readonly value: number
  readonly hadRecentInput: boolean
}

export type Painted = {
  /** first paint, in milliseconds */
  readonly first: number
  /** cumulative layout shift (CLS), without unit */
  readonly shifted: number
  /** longest task since then, in milliseconds; 0 if none took over 50 */
  readonly longest: number
}

/** The figures of the page, a second after `waitFor` was met. */
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

/** Runs `act` with the page's processor throttled by `rate`. */
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

/** JavaScript heap of the page after a garbage collection, in megabytes. */
export async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  await session.detach()
  return Math.round(usedSize / 1e6)
}
