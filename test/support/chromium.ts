/** A real browser, for tests of pages. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

/** Chromium as people have it. */
export const wholeChromium = '/usr/bin/chromium'
/** Debian's build for no screen draws the same pages in about two thirds of the time. */
const path = ['/usr/bin/chromium-headless-shell', wholeChromium].find(existsSync)

/** For `skip` of a test: false where there is a browser, else why it is left out. */
export const noBrowser = path === undefined && 'no Chromium here'

/** A browser without a screen; whoever starts it ends it. */
export function launchBrowser(executablePath = path!): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  return chromium.launch({ executablePath, args })
}

/** Gives `act` a browser, which ends with it. */
export async function withBrowser(act: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await launchBrowser()
  await act(browser).finally(() => browser.close())
}
