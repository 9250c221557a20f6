/**
 * `npm run pictures`: screenshots of the main pages of the web UI with the sample data, in both themes, on a
 * desktop and on a phone, as docs/ui/*.png. For people to look at: no test compares them.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { Page } from 'playwright-core'
import { firstStart } from '../src/accounts/first-start.ts'
import { createSample } from '../src/accounts/sample/sample.ts'
import { buildApp } from '../src/app.ts'
import { migrate } from '../src/db/migrate.ts'
import { openDatabase } from '../src/db/open.ts'
import { signInBrowser } from '../test/support/browser-session.ts'
import { launchBrowser } from '../test/support/chromium.ts'

const token = 'pictures-token-pictures-token-pictures'
const sizes = { desktop: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } }

type Shown = { readonly path: string; readonly act?: (page: Page) => Promise<void> }

const firstCard = (page: Page) => page.locator('[data-card] a').first()

const pages: { readonly [name: string]: Shown } = {
  board: { path: '/board' },
  won: {
    path: '/board',
    act: async page => {
      await firstCard(page).focus()
      await page.keyboard.press('w')
      await page.getByRole('dialog').waitFor()
    },
  },
  palette: {
    path: '/board',
    act: async page => {
      await firstCard(page).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('searchbox').waitFor()
      await page.keyboard.type('northwind')
      await page
        .getByRole('menuitem', { name: /Northwind Dairy/ })
        .first()
        .waitFor()
    },
  },
  deal: { path: '/deals/477' },
  deals: { path: '/deals' },
  products: { path: '/products' },
  today: { path: '/today' },
  inbox: { path: '/inbox' },
  calendar: { path: '/calendar' },
  month: { path: '/calendar?view=month' },
  forecast: { path: '/forecast' },
  changes: { path: '/forecast?report=changes' },
  fields: { path: '/settings/fields' },
  pipelines: { path: '/settings/pipelines' },
}

const folder = new URL('../docs/ui/', import.meta.url).pathname
mkdirSync(folder, { recursive: true })
const dataDir = mkdtempSync(join(tmpdir(), 'dealwright-pictures-'))
const db = await openDatabase({ dataDir, log: () => {} })
await migrate(db)
await firstStart(db, { now: new Date(), sampleData: true, presetToken: token, createSample })
const app = buildApp({ db, now: () => new Date(), log: pino({ level: 'silent' }) })
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const browser = await launchBrowser()
for (const [device, viewport] of Object.entries(sizes)) {
  const context = await browser.newContext({ viewport, reducedMotion: 'reduce', locale: 'en-US' })
  await signInBrowser(context, { url, token })
  const page = await context.newPage()
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
    for (const [name, { path, act }] of Object.entries(pages)) {
      await page.goto(url + path)
      await page.waitForLoadState('load')
      await page.waitForTimeout(1200)
      await act?.(page)
      await page.waitForTimeout(300)
      await page.screenshot({ path: join(folder, `${name}-${device}-${theme}.png`) })
      console.log(`${name}-${device}-${theme}.png`)
    }
  }
  await context.close()
}
await browser.close()
await app.close()
await db.close()
rmSync(dataDir, { recursive: true, force: true })
