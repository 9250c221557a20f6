/** A real browser, for tests of pages. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = '/usr/bin/chromium'

/** For `skip` of a test: false where there is a browser, else why it is left out. */
export const noBrowser = !existsSync(executablePath) && 'no Chromium here'

/** A browser without a screen; whoever starts it ends it. */
export function launchBrowser(): Promise<Browser> {
  const args = ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
  return chromium.launch({ executablePath, args })
}

/** Gives `act` a browser, which ends with it. */
export async function withBrowser(act: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await launchBrowser()
  await act(browser).finally(() => browser.close())
}
