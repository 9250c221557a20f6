/** Legibility on the screen: nothing necessary is cut off or covered. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi, resize } from '../support/ui.ts'

const service = await startService()
const { call, known, db } = service
const skip = noBrowser

async function makeDeal(title: string, more: object = {}): Promise<number> {
  const reply = await call('POST', `${v1}/deal`, dealBody(known, { title, ...more }))
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

/** True if an element is completely visible. */
const isWhole = (element: Locator) =>
  element.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)

test('the stages of a deal have their whole names in a narrow panel, and their days in one line', {
  skip,
}, async () => {
  const id = await makeDeal('Narrow steps', { pipeline_stage: known.stages.New! })
  await call('PATCH', `${v1}/deal/${id}`, { pipeline_stage: known.stages.Qualified! })
  await db.query(
    `UPDATE event SET at = at - interval '12 days' WHERE resource = 'deal' AND record_id = ${id}`,
  )
  for (const width of [390, 320]) {
    const { page, end } = await openUi(service, `/board?deal=${id}`, { size: { width, height: 800 } })
    const stages = page.getByRole('radiogroup', { name: 'Stage' }).getByRole('radio')
    await page.getByText('12 d', { exact: true }).waitFor()
    for (const stage of await stages.all()) {
      assert.ok(await isWhole(stage.locator('bdi')), `${await stage.textContent()} at ${width}`)
      assert.ok((await stage.boundingBox())!.height <= 34)
    }
    await end()
  }
})

const over = (one: DOMRect, other: DOMRect) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom

test('what a card has to press lies over none of its texts', { skip }, async () => {
  const title = 'Covered by nothing, however long the name of this deal may be in the end'
  await makeDeal(title)
  const { page, end } = await openUi(service, `/board?filter=${encodeURIComponent(`title:eq(${title})`)}`)
  const card = page.getByRole('listitem').filter({ hasText: title })
  await card.hover()
  for (const name of [`Select ${title}`, `Actions of ${title}`]) {
    const [box] = await card
      .getByLabel(name, { exact: true })
      .evaluateAll(found => found.map(one => one.getBoundingClientRect().toJSON() as DOMRect))
    const seen = await card
      .getByRole('link')
      .locator('> span')
      .evaluateAll(lines =>
        lines.slice(0, 2).map(line => {
          const { left, top, bottom, right } = line.getBoundingClientRect()
          return { left, top, bottom, right: right - Number.parseFloat(getComputedStyle(line).paddingRight) }
        }),
      )
    for (const line of seen) assert.ok(!over(line as DOMRect, box!), name)
  }
  await end()
})

test('a message lies over no bar at the foot', { skip }, async () => {
  for (const size of [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const { page, end } = await openUi(service, '/board', { size })
    const cards = page.getByRole('listitem').getByRole('link')
    await cards.first().click({ modifiers: ['Shift'] })
    const bar = page.getByRole('region', { name: 'Selected' })
    await bar.waitFor()
    await page.keyboard.press('Control+z')
    const message = page.getByRole('log', { name: 'Messages' }).locator('> div').first()
    await message.waitFor()
    const [above, below] = [(await message.boundingBox())!, (await bar.boundingBox())!]
    assert.ok(above.y + above.height <= below.y, `${size.width}`)
    await end()
  }
})

test('the head of a page ends where its column does, however wide the window is', { skip }, async () => {
  const { page, end } = await openUi(service, '/board', { size: { width: 1920, height: 1080 } })
  for (const path of ['/forecast', '/forecast?report=owners', '/today', '/settings/users', '/import']) {
    await page.goto(service.url + path)
    const column = page.locator('main > .page-column')
    await column.waitFor()
    const rights = await page
      .locator('main')
      .evaluate(main =>
        [...main.querySelectorAll(':scope > header, :scope > .page-column')].map(
          one => one.getBoundingClientRect().right,
        ),
      )
    assert.equal(rights.length, 2, path)
    assert.equal(rights[0], rights[1], path)
  }
  await end()
})

test('what is pressed is at least 24 pixels high and wide', { skip }, async () => {
  const deal = await makeDeal('Easily hit')
  const paths = [`/deals/${deal}?tab=related`, '/contacts/68', '/companies', '/products', '/today?owner=all']
  // Nothing was won then, nor before: the amounts are short.
  const early = '/forecast?from=2019-01&months=1'
  const { page, end } = await openUi(service, '/board')
  for (const path of [
    '/board',
    ...paths,
    '/forecast',
    early,
    '/forecast?report=owners',
    '/settings',
    '/import',
  ]) {
    await page.goto(service.url + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    for (const width of [1440, 390]) {
      await resize(page, width)
      const small = await page.evaluate(() =>
        // A mark of a chart is as large as its value; a table has the same links.
        [
          ...document.querySelectorAll<HTMLElement>(
            'a:not(svg a), button, summary, label:has(> input), select',
          ),
        ]
          .filter(one => !one.closest('.unseen') && one.checkVisibility())
          .map(one => ({ box: one.getBoundingClientRect(), text: one.ariaLabel ?? one.textContent }))
          .filter(({ box }) => box.width > 0 && (box.width < 23.5 || box.height < 23.5))
          .map(({ box, text }) => `${text?.slice(0, 40)}: ${box.width} x ${box.height}`),
      )
      assert.deepEqual(small, [], `${path} at ${width}`)
    }
  }
  await end()
})

test('a card that is dragged is no entry of a list', { skip }, async () => {
  await makeDeal('Without a bullet', { pipeline_stage: known.stages.New! })
  const { page, end } = await openUi(service, '/board')
  const box = (await page.getByRole('link', { name: 'Without a bullet' }).boundingBox())!
  await page.mouse.move(box.x + 60, box.y + 20)
  await page.mouse.down()
  await page.mouse.move(box.x + 90, box.y + 40, { steps: 4 })
  const style = await page.locator('.lifted').evaluate(card => getComputedStyle(card).listStyleType)
  assert.equal(style, 'none')
  await page.keyboard.press('Escape')
  await page.mouse.up()
  await end()
})

test('a column that is sorted shows how beside its menu, and a text that runs left its beginning', {
  skip,
}, async () => {
  const title = 'הצעת מחיר לחברה גדולה מאוד עם שם ארוך שאינו נכנס בעמודה של הטבלה הזאת בשום אופן'
  await makeDeal(title)
  const search = new URLSearchParams({
    filter: `title:like(הצעת)`,
    sort: 'deal_value:desc,title:asc',
    columns: 'title:220,deal_value,description',
  })
  const { page, end } = await openUi(service, `/deals?${search}`)
  const link = page.getByRole('gridcell').getByRole('link', { name: title })
  await link.waitFor()
  const [first, cell] = await link.evaluate(element => {
    const range = document.createRange()
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    const text = walker.nextNode()!
    range.setStart(text, 0)
    range.setEnd(text, 1)
    const { left, right } = element.closest('[role="gridcell"]')!.getBoundingClientRect()
    const letter = range.getBoundingClientRect()
    return [
      [letter.left, letter.right],
      [left, right],
    ] as const
  })
  assert.ok(first[0]! >= cell[0]! && first[1]! <= cell[1]!, `${first} in ${cell}`)
  for (const name of ['Deal value', 'Title']) {
    const head = page.getByRole('columnheader', { name: new RegExp(`^${name}`) }).first()
    await head.hover()
    const arrow = (await head.locator('svg').first().boundingBox())!
    const menu = (await head.locator('[data-menu]').boundingBox())!
    assert.ok(arrow.x + arrow.width <= menu.x || menu.x + menu.width <= arrow.x, name)
  }
  await end()
})

test('the forms of a phone keep their buttons together, and their choices whole', { skip }, async () => {
  const { page, end } = await openUi(service, '/deals', { size: { width: 390, height: 800 } })
  await page.getByRole('button', { name: /^Sort/ }).click()
  const direction = page.getByLabel('Direction 1')
  await direction.waitFor()
  const width = await direction.evaluate(select => {
    const free = select.cloneNode(true) as HTMLElement
    free.style.width = 'max-content'
    document.body.append(free)
    const wanted = free.getBoundingClientRect().width
    free.remove()
    return [select.getBoundingClientRect().width, wanted] as const
  })
  assert.ok(width[0] >= width[1] - 1, `${width}`)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'New deal' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'New deal' })
  const foot = dialog.getByRole('button', { name: 'Create and add another' }).locator('..')
  await dialog.getByRole('textbox', { name: 'Title' }).waitFor()
  // Measured at once: the form grows while its choices load.
  const [other, create] = await foot.evaluate(({ children }) =>
    [...children].map(button => button.getBoundingClientRect().toJSON() as DOMRect),
  )
  assert.deepEqual([other!.y, create!.y > 0], [create!.y, true])
  assert.ok(create!.x > other!.x)
  await end()
})

/** Presses a key `times` times. The result: the focused elements that are covered then. */
async function coveredBy(page: Page, key: string, times: number): Promise<string[]> {
  const covered: string[] = []
  for (let index = 0; index < times; index++) {
    await page.keyboard.press(key)
    const found = await page.evaluate(async () => {
      await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))
      const focused = document.activeElement!
      const { left, top, width, height } = focused.getBoundingClientRect()
      // A native box that is only heard has another in its place.
      if (focused === document.body || width < 4 || height > 0.5 * innerHeight) return null
      const seen = document.elementFromPoint(left + width / 2, top + height / 2)
      const isSeen = seen && (focused.contains(seen) || seen.contains(focused))
      return isSeen ? null : focused.outerHTML.slice(0, 120)
    })
    if (found) covered.push(found)
  }
  return covered
}

test('what has the focus is not covered by a bar that sticks, on a phone', { skip }, async () => {
  const size = { width: 390, height: 600 }
  const id = await makeDeal('Below no bar')
  const { page, end } = await openUi(service, `/deals/${id}?tab=overview`, { size })
  await page.getByRole('button', { name: 'Edit Title' }).focus()
  assert.deepEqual(await coveredBy(page, 'Tab', 25), [])
  assert.deepEqual(await coveredBy(page, 'Shift+Tab', 25), [])
  await page.getByRole('button', { name: 'Actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Title' }).focus()
  assert.deepEqual(await coveredBy(page, 'Tab', 30), [])
  await page.goto(`${service.url}/docs/reference/deal`)
  await page.locator('main a').last().focus()
  assert.deepEqual(await coveredBy(page, 'Shift+Tab', 30), [])
  await end()
})

test('what may be pressed stays where it is while the rest of a page loads, on a phone too', {
  skip,
}, async () => {
  const id = await makeDeal('Stays where it is')
  const filter = encodeURIComponent('title:like(Stays)')
  const phone = { size: { width: 390, height: 844 }, context: { hasTouch: true, isMobile: true } }
  for (const path of [`/board?filter=${filter}&sort=title%3Aasc`, `/deals/${id}`, '/companies']) {
    const { page, end } = await openUi(service, '/docs', phone)
    await page.addInitScript(() => {
      const moved: string[] = []
      Object.assign(globalThis, { moved })
      new PerformanceObserver(list => {
        type Shift = { value: number; sources: { node: Element | null }[] }
        for (const { value, sources } of list.getEntries() as unknown as Shift[])
          if (value >= 0.005) moved.push(`${value} ${sources[0]?.node?.outerHTML?.slice(0, 120)}`)
      }).observe({ type: 'layout-shift', buffered: true })
    })
    await page.goto(service.url + path)
    // The last of what is loaded after the records.
    if (path.startsWith('/board')) await page.getByRole('button', { name: 'Save view…' }).waitFor()
    if (path.startsWith('/deals')) await page.getByText('Nothing planned').waitFor()
    if (path === '/companies') await page.getByRole('status').filter({ hasText: /\d/ }).waitFor()
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    assert.deepEqual(
      await page.evaluate(() => (globalThis as unknown as { moved: string[] }).moved),
      [],
      path,
    )
    await end()
  }
})
