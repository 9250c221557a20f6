/** A real browser, for tests of pages. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

export const executablePath = '/usr/bin/chromium'

/** For `skip` of a test: false where there is a browser, else why it is left out. */
export const noBrowser = !existsSync(executablePath) && 'no Chromium here'

/** Gives `act` a browser, which ends with it. */
export async function withBrowser(act: (browser: Browser) => Promise<void>): Promise<void> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  const browser = await chromium.launch({ executablePath, args })
  await act(browser).finally(() => browser.close())
}
