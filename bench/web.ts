/**
 * `npm run bench:web [-- --deals 10000,100000 --moves 500]`: the speed of the web UI, in Debian's Chromium on
 * the embedded database, headless: the first card, a drag, a jump, how much is drawn and loaded, and the
 * memory after a long day. Times are medians of five after a warm-up, when maintenance is idle. See
 * docs/performance.md.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { buildApp } from '../src/app.ts'
import { migrate } from '../src/db/migrate.ts'
import { type Database, openDatabase } from '../src/db/open.ts'
import { webDirectory } from '../src/http/web.ts'
import { signInBrowser } from '../test/support/browser-session.ts'
import { launchBrowser, wholeChromium } from '../test/support/chromium.ts'
import { makeManyDeals } from '../test/support/many-deals.ts'
import { timeouts } from '../test/support/timeouts.ts'
import { sayMachine } from './begin.ts'
import { heapOf, paintedOf, slowed } from './page.ts'

const { values } = parseArgs({
  options: {
    deals: { type: 'string', default: '10000,100000' },
    moves: { type: 'string', default: '500' },
  },
})
const times = 5
const movesOfDay = Number(values.moves)
const jumpsOfDay = Math.ceil(movesOfDay * 0.4)
const token = 'bench-web-token-bench-web-token-bench'

type Row = readonly [what: string, measured: number, unit: string, aim: number]

sayMachine()
/** The headless build draws faster than a person's browser. */
const isWhole = existsSync(wholeChromium)
if (!isWhole) console.log(`There is no ${wholeChromium}: these are the figures of the build for no screen.`)

const firstCards: number[] = []
for (const deals of values.deals.split(',').map(Number)) {
  const rows = await measured(deals)
  firstCards.push(rows[0]![1])
  console.log(`\n${deals} deals\n\n| What | Measured | Aim |\n|---|--:|--:|`)
  for (const [what, value, unit, aim] of rows) console.log(`| ${what} | ${value} ${unit} | ${aim} ${unit} |`)
}
if (firstCards.length > 1)
  console.log(
    `\nfirst card, the last ÷ the first: ${(firstCards.at(-1)! / firstCards[0]!).toFixed(2)} (aim 1.3)`,
  )
process.exit(0)

async function measured(deals: number): Promise<Row[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'dealwright-bench-web-'))
  const db = await openDatabase({ dataDir, ...timeouts(600_000), log: () => {} })
  await migrate(db)
  await firstStart(db, { now: new Date(), sampleData: true, presetToken: token, createSample })
  await makeManyDeals(db, deals)
  const app = buildApp({ db, now: () => new Date(), log: pino({ level: 'silent' }) })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  await settled(db)
  const browser = await launchBrowser(isWhole ? wholeChromium : undefined)
  try {
    const context = await browser.newContext({ viewport: { width: 1600, height: 900 } })
    await signInBrowser(context, { url, token })
    const page = await context.newPage()
    const load = async () => {
      await page.goto(`${url}/board`)
      await page.waitForSelector('[data-card] a')
      return page.evaluate(() => Math.round(performance.now()))
    }
    await load()
    const bytes = (await scriptsOf(page)).reduce((sum, path) => sum + gzipped(path), 0)
    const first = await medianOf(load)
    const painted = await paintedOf(page)
    const slowly = await slowed(page, 4, () => medianOf(load))
    await load()
    const heap = await heapOf(page)
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
    const moves = countMoves(page)
    const frame = await medianOf(() => dragged(page))
    await page.waitForTimeout(1000)
    const perMove = moves.requests / (times + 1)
    const jump = await medianOf(() => jumped(page))
    await page.goto(`${url}/deals`)
    await page.waitForSelector('[role=row] [role=gridcell]')
    await page.waitForTimeout(1000)
    const tableJump = await medianOf(() => jumpedInTable(page))
    const tableNodes = await page.evaluate(() => document.querySelectorAll('*').length)
    await longDay(page, url)
    return [
      ['first card', first, 'ms', 800],
      ['first card, the processor four times as slow', slowly, 'ms', 2000],
      ['first paint', painted.first, 'ms', 500],
      ['layout that shifted (CLS)', Math.round(painted.shifted * 1000) / 1000, '', 0.02],
      ['longest task after the first paint', painted.longest, 'ms', 200],
      ['elements of the board', nodes, '', 3500],
      ['drag, the slowest frames (p95)', frame, 'ms', 20],
      ['requests of a move', perMove, '', 1],
      ['jump to a card far down its column', jump, 'ms', 300],
      ['jump to a row of the table', tableJump, 'ms', 300],
      ['elements of the table', tableNodes, '', 2500],
      ['JavaScript until the first card', Math.round(bytes / 1000), 'kB gzip', 190],
      ['memory of the scripts', heap, 'MB', 150],
      [`the same after ${movesOfDay} moves and ${jumpsOfDay} jumps`, await heapOf(page), 'MB', 150],
    ]
  } finally {
    await browser.close()
    await app.close()
    await db.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Waits until the background jobs have processed the new deals, and vacuums, as after an idle minute. */
async function settled(db: Database): Promise<void> {
  const written = async () => {
    await db.query('SELECT pg_stat_force_next_flush()')
    const [row] = await db.query(`SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'deal'`)
    return row!.n_tup_upd
  }
  for (let before: unknown; ; ) {
    const now = await written()
    if (now === before) break
    before = now
    await new Promise(resolve => setTimeout(resolve, 5000))
  }
  await db.queryWithoutTimeLimit('VACUUM (ANALYZE)')
}

/** The scripts that a page requested before it had the board's data: the first card waits for them. */
function scriptsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
    const board = all.find(({ name }) => name.includes('/deal/view/board'))!
    const isScript = ({ name }: PerformanceResourceTiming) => /\.js$/.test(name)
    const before = all.filter(entry => isScript(entry) && entry.startTime < board.responseEnd)
    return before.map(({ name }) => new URL(name).pathname)
  })
}

function gzipped(path: string): number {
  return gzipSync(readFileSync(join(webDirectory, path)), { level: 9 }).length
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  await measure()
  const all: number[] = []
  for (let turn = 0; turn < times; turn++) all.push(await measure())
  return all.sort((one, other) => one - other)[Math.floor(times / 2)]!
}

/** Counts the page's requests to the service. */
function countMoves(page: Page): { requests: number } {
  const counted = { requests: 0 }
  page.on('request', request => {
    if (new URL(request.url()).pathname.startsWith('/rest/api/v1/deal')) counted.requests++
  })
  return counted
}

/** Drags the first card to the next column; returns the p95 of the frames meanwhile, in milliseconds. */
async function dragged(page: Page): Promise<number> {
  const [from, to] = await page.evaluate(() =>
    [...document.querySelectorAll('[data-column]')].slice(0, 2).map(column => {
      const { x, y } = (column.querySelector('[data-card]') ?? column).getBoundingClientRect()
      return { x: x + 80, y: y + 30 }
    }),
  )
  await page.mouse.move(from!.x, from!.y)
  await page.mouse.down()
  await page.mouse.move(from!.x + 10, from!.y + 10)
  await page.evaluate(() => {
    const frames: number[] = []
    let last = performance.now()
    const tick = (now: number) => {
      frames.push(now - last)
      last = now
      requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
    Object.assign(globalThis, { frames })
  })
  for (let step = 1; step <= 60; step++)
    await page.mouse.move(from!.x + ((to!.x - from!.x) * step) / 60, from!.y + 80 * Math.sin(step / 8))
  const p95 = await page.evaluate(() => {
    const { frames } = globalThis as unknown as { frames: number[] }
    return frames.sort((one, other) => one - other)[Math.floor(frames.length * 0.95)]!
  })
  await page.mouse.up()
  await page.waitForTimeout(400)
  return Math.round(p95 * 10) / 10
}

/** Moves a card to and fro, scrolls through the whole table, and comes back to the board: all in one page. */
async function longDay(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/board`)
  await page.waitForSelector('[data-card] a')
  const columns = page.locator('[data-column]')
  for (let move = 0; move < movesOfDay; move++) {
    await columns
      .nth(move % 2)
      .locator('[data-card] a')
      .first()
      .focus()
    const answered = page.waitForResponse(reply => reply.request().method() === 'PATCH')
    await page.keyboard.press(`Shift+${move % 2 ? 'ArrowLeft' : 'ArrowRight'}`)
    await answered
    await page.waitForTimeout(30)
  }
  const go = (name: string) => page.getByRole('link', { name, exact: true }).first().click()
  await go('Deals')
  await page.waitForSelector('[role=row] [role=gridcell]')
  for (let jump = 0; jump < jumpsOfDay; jump++) await jumpedInTable(page)
  await go('Board')
  await page.waitForSelector('[data-card] a')
  await page.waitForTimeout(1000)
}

/** Scrolls the first column to an unread part, and waits for its cards. */
function jumped(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const scroller = document.querySelector('[data-scroller]')!
    const started = performance.now()
    scroller.scrollTop = Math.random() * scroller.scrollHeight
    const box = scroller.getBoundingClientRect()
    for (;;) {
      await new Promise(requestAnimationFrame)
      // One of the two is not between two cards.
      const middle = box.y + box.height / 2
      const at = [middle, middle + 12].map(y => document.elementFromPoint(box.x + 60, y))
      if (at.some(one => one?.closest('[data-card]')) && performance.now() - started > 40) break
      if (performance.now() - started > 10_000) throw new Error('no card came')
    }
    return Math.round(performance.now() - started)
  })
}

function jumpedInTable(page: Page): Promise<number> {
  return page.evaluate(async () => {
    const grid = document.querySelector('[role=grid]')!
    let scroller = grid as Element
    while (scroller.scrollHeight <= scroller.clientHeight + 10) scroller = scroller.parentElement!
    const started = performance.now()
    scroller.scrollTop = Math.random() * scroller.scrollHeight
    const box = scroller.getBoundingClientRect()
    for (;;) {
      await new Promise(requestAnimationFrame)
      const row = document.elementFromPoint(box.x + 200, box.y + box.height / 2)?.closest('[role=row]')
      const isThere = row && !row.querySelector('.waiting') && (row.textContent ?? '').trim() !== ''
      if (isThere && performance.now() - started > 40) break
      if (performance.now() - started > 10_000) throw new Error('no row came')
    }
    return Math.round(performance.now() - started)
  })
}
