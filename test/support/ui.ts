/**
 * The web UI in a real browser, against a real service. A page records every console error and every refused
 * file; `Ui.end` fails on them.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { signInBrowser } from './browser-session.ts'
import { launchBrowser } from './chromium.ts'
import { share } from './ends.ts'
import type { Service } from './service.ts'

export type Ui = {
  readonly page: Page
  /** Fails if axe finds a violation of WCAG 2.2 AA or best practice, in either theme. */
  accessible(what: string): Promise<void>
  /** Fails if the console had an error, apart from `expected`; then closes the page. */
  end(expected?: RegExp): Promise<void>
}

export type UiOptions = {
  /** the signed-in user; default: the account's owner */
  readonly user?: number
  readonly size?: { width: number; height: number }
  readonly context?: BrowserContextOptions
}

/** Timeout for immediate effects: long for a busy machine, too. */
const patienceMs = 90_000

type Served = Pick<Service, 'url' | 'token'>

let started: Promise<Browser> | undefined
share({
  tidy: async () => Promise.all((await started)?.contexts().map(context => context.close()) ?? []),
  end: async () => (await started)?.close(),
})

/** One browser for all test files of a process. Each opens contexts of its own, which are closed with it. */
function sharedBrowser(): Promise<Browser> {
  started ??= launchBrowser().then(browser =>
    // After a crash the next file gets a new one.
    browser.on('disconnected', () => {
      started = undefined
    }),
  )
  return started
}

const axe = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** The other theme differs in colours only. */
const colourRules = ['color-contrast', 'link-in-text-block']

/**
 * Messages stay for a minute: on a busy machine their six seconds pass between reading one and pressing its
 * button. No test is about how long they stay (web/src/ui/toast.tsx).
 */
function letMessagesStay(): void {
  const { setTimeout: later } = globalThis
  const slower = (act: () => void, ms?: number, ...more: []) =>
    later(act, ms === 6000 || ms === 12_000 ? 60_000 : ms, ...more)
  Object.assign(globalThis, { setTimeout: slower })
}

/** A context for pages that a busy machine draws, too; nobody is signed in. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await (await sharedBrowser()).newContext(options)
  context.setDefaultTimeout(patienceMs)
  await context.addInitScript(letMessagesStay)
  return context
}

/** Opens a page of the UI as a signed-in user, by a one-time link of theirs. */
export async function openUi(service: Served, path: string, options: UiOptions = {}): Promise<Ui> {
  const { user = 1, size = { width: 1280, height: 800 }, context: given = {} } = options
  const context = await openContext({ viewport: size, ...given })
  await signInBrowser(context, service, user)
  const page = await context.newPage()
  const errors = heard(page)
  await page.goto(service.url + path)
  return {
    page,
    accessible: what => assertAccessible(page, what),
    end: async expected => {
      await context.close()
      assert.deepEqual(
        errors.filter(error => !expected?.test(error)),
        [],
      )
    },
  }
}

/**
 * Goes to a path as a link does, without loading the UI anew, and waits for its heading; `level`: that of the
 * headings which each page has of its own.
 */
export async function visit(page: Page, path: string, level: 'h1' | 'h2' = 'h1'): Promise<void> {
  const headings = page.locator(`main ${level}`)
  await headings.evaluateAll(all => all.map(heading => heading.setAttribute('data-former', '')))
  await page.evaluate(to => history.pushState({}, '', to), path)
  await headings.and(page.locator(':not([data-former], [data-waiting])')).first().waitFor()
}

/** The widths of a desk and of a phone, in pixels. */
export const widths = [1280, 390] as const

/** Changes the width of a page, and waits until it is drawn so. */
export async function resize(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: 844 })
  await twoFrames(page)
}

/** Waits for two frames: by then a page has done what an event leads to at once. */
export async function twoFrames(page: Page): Promise<void> {
  await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
}

/** Waits until a page has its own heading, and nothing in the place of what is still loading. */
export async function loaded(page: Page): Promise<void> {
  await page.locator('main h1:not([data-waiting])').first().waitFor()
  await page.locator('.waiting').first().waitFor({ state: 'detached' })
}

/** Waits until a page on a desk has read all that it shows: the account menu comes after that. */
export async function settled(page: Page): Promise<void> {
  await loaded(page)
  await page.getByRole('button', { name: /, your account$/ }).waitFor()
}

/** Types a text faster than any key: on a busy machine a key can take as long as a pause. */
export async function typeAtOnce(box: Locator, text: string): Promise<void> {
  await box.evaluate((input: HTMLInputElement, typed) => {
    const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!
    for (let end = 1; end <= typed.length; end++) {
      set!.call(input, typed.slice(0, end))
      input.dispatchEvent(new Event('input', { bubbles: true }))
    }
  }, text)
}

/** Errors in a page as they happen: of scripts and of the console, refusals of its policy. */
export function heard(page: Page): string[] {
  const errors: string[] = []
  page.on('pageerror', error => errors.push(error.message))
  page.on('console', message => {
    if (message.type() === 'error') errors.push(`${message.text()} ${message.location().url}`)
  })
  return errors
}

/** Waits until the focus is in an element: a key that is pressed before that goes elsewhere. */
export const focusIn = (place: Locator): Promise<void> =>
  place.and(place.page().locator(':focus-within')).waitFor()

/** A message at the foot of the page, with its buttons. */
export const messageOf = (page: Page, text: string | RegExp): Locator =>
  page.getByRole('log', { name: 'Messages' }).locator('> div').filter({ hasText: text })

export async function assertAccessible(page: Page, what: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const violations = await violationsOf(page, colorScheme === 'light' ? rules : colourRules)
    assert.deepEqual(violations, [], `${what}, ${colorScheme}`)
  }
}

async function violationsOf(page: Page, names: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe)
  return page.evaluate(async names => {
    type Found = { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }
    type Axe = { run(where: Document, how: object): Promise<{ violations: Found[] }> }
    const { run } = (globalThis as unknown as { axe: Axe }).axe
    const { violations } = await run(document, { runOnly: names, resultTypes: ['violations'] })
    // A popover is in no landmark of the page; nor is React Aria's hidden button to close it.
    const isFloating = (id: string, html: string) =>
      id === 'region' && /^<div (data-overlay-container|style="display: contents;")/.test(html)
    return violations.flatMap(({ id, help, nodes }) =>
      nodes
        .filter(({ html }) => !isFloating(id, html))
        .slice(0, 3)
        .map(node => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary ?? ''}`),
    )
  }, names)
}
