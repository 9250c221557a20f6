/** A real browser, for tests of pages. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** The full Chromium. */
export const wholeChromium = '/usr/bin/chromium'
/** Debian's headless build draws the same pages in about two thirds of the time. */
const path = ['/usr/bin/chromium-headless-shell', wholeChromium].find(existsSync)

/** For `skip` of a test: false if there is a browser, else the reason. */
export const noBrowser = path === undefined && 'no Chromium here'

/** A headless browser; the caller closes it. */
export function launchBrowser(executablePath = path!): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  return chromium.launch({ executablePath, args })
}

/** Runs `act` with a browser, and closes it. */
export async function withBrowser(act: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await launchBrowser()
  await act(browser).finally(() => browser.close())
}
