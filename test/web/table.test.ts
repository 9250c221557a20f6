/** The table in a real browser, with twenty thousand deals: scrolling, cells, bulk changes, views. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { makeManyDeals } from '../support/many-deals.ts'
import { startService, v1 } from '../support/service.ts'
import { focusIn, messageOf, openUi, twoFrames } from '../support/ui.ts'

const count = 20_000
const service = noBrowser ? null : await startService()
if (service) await makeManyDeals(service.db, count)

/** The texts of a column, of the rows that are drawn. */
async function columnTexts(page: Page, column: number): Promise<string[]> {
  const rows = page.getByRole('grid').locator(`[role=gridcell][data-cell$=".${column}"]`)
  return rows.evaluateAll(cells =>
    cells
      .map(cell => ({
        row: Number(cell.getAttribute('data-cell')!.split('.')[0]),
        text: cell.textContent ?? '',
      }))
      .sort((one, other) => one.row - other.row)
      .map(({ text }) => text),
  )
}

const cell = (page: Page, row: number, column: number) => page.locator(`[data-cell="${row}.${column}"]`)
const isActive = (page: Page, row: number, column: number) =>
  page.waitForFunction(at => document.activeElement?.getAttribute('data-cell') === at, `${row}.${column}`)
const loaded = (page: Page) => page.getByRole('grid').getByRole('link').first().waitFor()
/** Waits until the rows have an order: the address has it before they are drawn. */
async function ordered(page: Page, column: string, direction: 'ascending' | 'descending'): Promise<void> {
  const head = page.getByRole('columnheader', { name: column })
  await head.and(page.locator(`[aria-sort=${direction}]`)).waitFor()
  await loaded(page)
}
/** Presses Undo in a message. */
const undo = (page: Page, text: string | RegExp) =>
  messageOf(page, text).getByRole('button', { name: 'Undo' }).click()
const message = (page: Page, text: RegExp) =>
  page.getByRole('log', { name: 'Messages' }).getByText(text).waitFor()

/** Deals of a company of their own, so that tests don't interfere. */
async function makeDeals(titles: readonly string[]): Promise<number[]> {
  const ids: number[] = []
  for (const title of titles) {
    const reply = await service!.call('POST', `${v1}/deal`, {
      title,
      pipeline: service!.known.pipeline,
      pipeline_stage: service!.known.stages.New!,
      primary_contact: service!.known.contact,
      sales_owner: service!.known.owner,
      expected_close_date: '2027-05-01',
      deal_value: { currency: 'USD', value: 1000 },
    })
    assert.equal(reply.status, 201, reply.text)
    ids.push(reply.body.data.id)
  }
  return ids
}

const only = (word: string, more = '') =>
  `/deals?${new URLSearchParams({ filter: `title:like(${word})`, sort: 'title:asc', columns: 'title,expected_close_date,deal_value,description' })}${more}`

suite('The table', { skip: noBrowser }, () => {
  test('a filter is built, saved as a view, and its link shows the same to others', async () => {
    await makeDeals(['Quillfeather one', 'Quillfeather two'])
    const ui = await openUi(service!, '/deals')
    const { page } = ui
    await loaded(page)
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Field to filter by' }).fill('titl')
    await page.getByRole('option', { name: 'Title' }).click()
    await page.getByRole('textbox', { name: 'Title' }).fill('Quillfeather')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('button', { name: /^Title contains Quillfeather/ }).waitFor()
    await page.getByRole('status').filter({ hasText: /^2$/ }).waitFor()
    await page.getByRole('columnheader', { name: 'Title' }).click()
    await page.waitForURL(/sort=title%3Aasc/)
    await page.getByRole('button', { name: 'Save view…' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Quills')
    await page.getByRole('checkbox', { name: 'Everybody sees it' }).check()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'View: Quills' }).waitFor()
    const users = await service!.get(`${v1}/user/view/list?filter=id:gt(1)&sort=id:asc&pageSize=1`)
    const colleague = users.body.data[0].id
    const link = new URL(page.url())
    assert.match(link.search, /view=\d+/)
    const other = await openUi(service!, link.pathname + link.search, { user: colleague })
    await loaded(other.page)
    await other.page.getByRole('button', { name: 'View: Quills' }).waitFor()
    assert.deepEqual(await columnTexts(other.page, 1), await columnTexts(page, 1))
    assert.deepEqual(await columnTexts(page, 1), ['Quillfeather one', 'Quillfeather two'])
    await page.getByRole('columnheader', { name: 'Title' }).click()
    await page.getByText('Edited').waitFor()
    await page.getByRole('button', { name: 'Reset' }).click()
    await page.waitForURL(/sort=title%3Aasc/)
    await other.end()
    await ui.end()
  })

  test('the bar removes what was meant, and keeps what was typed', async () => {
    const [first] = await makeDeals(['Barlowe 1', 'Barlowe 2'])
    const { company } = service!.known
    await service!.call('PATCH', `${v1}/deal/${first}`, { company })
    const query = new URLSearchParams({ filter: 'title:like(Barlowe),description:isnull(true),id:gt(1)' })
    const ui = await openUi(service!, `/deals?${query}`)
    const { page } = ui
    await loaded(page)
    const editor = page.getByRole('dialog', { name: 'Change the condition' })
    const filter = (text: string) => page.waitForURL(url => url.searchParams.get('filter') === text)
    await page.getByRole('button', { name: 'Remove the condition Description is empty' }).waitFor()
    await page.getByRole('button', { name: 'Description is empty', exact: true }).click()
    await editor.getByRole('button', { name: 'Remove' }).click()
    await editor.waitFor({ state: 'detached' })
    await filter('title:like(Barlowe),id:gt(1)')
    await focusIn(page.getByRole('group', { name: 'Filter', exact: true }))
    // “Or…” makes a group of the typed condition. Its popover closes with its last condition.
    await page.getByRole('button', { name: 'Title contains Barlowe', exact: true }).click()
    await editor.getByRole('textbox', { name: 'Title' }).fill('Barlowe 1')
    await editor.getByRole('button', { name: 'Or…' }).click()
    await filter('or(title:like(Barlowe 1)),id:gt(1)')
    await editor.getByRole('button', { name: 'Remove the condition Title contains Barlowe 1' }).click()
    await editor.waitFor({ state: 'detached' })
    await filter('id:gt(1)')
    // A name that is not picked is looked up by the service.
    const { name } = (await service!.get(`${v1}/company/${company}`)).body.data
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Field to filter by' }).fill('Company')
    await page.getByRole('option', { name: 'Company', exact: true }).click()
    const added = page.getByRole('dialog', { name: 'New condition' })
    await added.getByRole('combobox', { name: 'Operator' }).selectOption('is any of')
    await added.getByRole('combobox', { name: 'Company', exact: true }).pressSequentially(name)
    await page.keyboard.press('Escape')
    // A press takes longer than the look-up, whose result would move the button away from under it.
    await added.getByRole('button', { name: 'Apply' }).click({ delay: 500 })
    await page.waitForURL(url => url.searchParams.get('filter')!.startsWith('id:gt(1),company:in('))
    await page.getByRole('link', { name: 'Barlowe 1' }).waitFor()
    // The text is that of the present filter, also where it has changed meanwhile.
    await page.getByRole('button', { name: 'Edit the filter as text' }).click()
    await page.getByRole('textbox', { name: 'Filter as text' }).fill('title:like(typed before)')
    await page.evaluate(() => history.pushState({}, '', '/deals?filter=id:gt(1)'))
    const text = page.getByRole('textbox', { name: 'Filter as text' })
    await page.waitForFunction(() => document.querySelector('textarea')?.value === 'id:gt(1)')
    await text.press('Escape')
    await page.getByRole('button', { name: 'Remove the condition' }).waitFor()
    await ui.end()
  })

  test('amounts are compared in the currency of the account, and numbers as the reader writes them', async () => {
    const ui = await openUi(service!, '/deals')
    const { page } = ui
    await loaded(page)
    const { base_currency } = (await service!.get(`${v1}/me`)).body.data.account
    const { code } = (await service!.get(`${v1}/currency/${base_currency}`)).body.data
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('searchbox', { name: 'Field to filter by' }).fill('Deal value')
    await page.getByRole('option', { name: 'Deal value', exact: true }).click()
    const editor = page.getByRole('dialog', { name: 'New condition' })
    await editor.getByText(code, { exact: true }).waitFor()
    await editor.getByRole('combobox', { name: 'Operator' }).selectOption('gt')
    const value = editor.getByRole('textbox', { name: 'Deal value' })
    await value.fill('10.000,5')
    await editor.getByRole('button', { name: 'Apply' }).click()
    await editor.getByText('“10.000,5” is no number. Write it as 10,000.50.').waitFor()
    await value.fill('10,000.5')
    await editor.getByRole('button', { name: 'Apply' }).click()
    const chip = new RegExp(`^Deal value is more than 10,000\\.5 ${code}`)
    await page.getByRole('button', { name: chip }).waitFor()
    await ui.end()
  })

  test('scrolling and arrow keys render only the rows that change', async () => {
    const ui = await openUi(service!, '/deals')
    const { page } = ui
    await loaded(page)
    await cell(page, 8, 2).click()
    await isActive(page, 8, 2)
    await twoFrames(page)
    // A row that is rendered takes its links out of the Tab order.
    const rendered = await page.evaluateHandle(() => {
      const rows = new Set<string>()
      new MutationObserver(changes => {
        for (const { target } of changes)
          if (target instanceof HTMLAnchorElement)
            rows.add(target.closest<HTMLElement>('[data-row]')!.dataset.row!)
      }).observe(document.querySelector('[role=grid]')!, { subtree: true, attributeFilter: ['tabindex'] })
      return rows
    })
    await page.keyboard.press('ArrowDown')
    await isActive(page, 9, 2)
    await twoFrames(page)
    assert.deepEqual(await rendered.evaluate(rows => [...rows].sort()), ['8', '9'])
    await page.getByRole('grid').evaluate(grid => grid.scrollBy(0, 20))
    await twoFrames(page)
    assert.equal(await rendered.evaluate(rows => rows.has('5')), false)
    await ui.end()
  })

  test('it is sorted by two columns', async () => {
    const ui = await openUi(service!, '/deals?columns=pipeline_stage,title')
    const { page } = ui
    await loaded(page)
    // So quickly that the second press precedes the drawing of the first.
    await page.evaluate(() => {
      const press = (column: number, shiftKey: boolean) =>
        document
          .querySelector(`[data-cell="-1.${column}"]`)!
          .dispatchEvent(new MouseEvent('click', { bubbles: true, shiftKey }))
      press(1, false)
      press(2, true)
    })
    await page.waitForURL(/sort=pipeline_stage%3Aasc%2Ctitle%3Aasc/)
    await ordered(page, 'Title', 'ascending')
    await ordered(page, 'Stage', 'ascending')
    const titles = await columnTexts(page, 2)
    const query = new URLSearchParams({
      sort: 'pipeline_stage:asc,title:asc',
      pageSize: '10',
      fields: 'title',
    })
    const { body } = await service!.get(`${v1}/deal/view/list?${query}`)
    assert.deepEqual(
      titles.slice(0, 10),
      body.data.map(({ title }: { title: string }) => title),
    )
    await ui.end()
  })

  test('rows that could not be read say so, and are read again', async () => {
    const ui = await openUi(service!, '/today')
    const { page } = ui
    const second = /deal\/view\/list.*[?&]page=2(&|$)/
    await page.route(second, route => route.fulfill({ status: 400, json: { message: 'Not now.' } }))
    await page.goto(`${service!.url}/deals?sort=id:asc&columns=title,id`)
    await loaded(page)
    await page.getByRole('grid').evaluate(element => element.scrollTo({ top: 36 * 92 }))
    await page.getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor()
    await page.unroute(second)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('grid').locator('[data-row="101"] a').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    await ui.end(/400/)
  })

  test('a range that has rows which were not read says so, and begins anew in another order', async () => {
    const ui = await openUi(service!, '/deals?sort=id:asc&columns=title,id')
    const { page } = ui
    await loaded(page)
    await cell(page, 0, 0).click()
    await page.getByRole('grid').evaluate(element => element.scrollTo({ top: 36 * 1050 }))
    await page.getByRole('grid').locator('[data-row="1055"] a').waitFor()
    await cell(page, 1055, 0).click({ modifiers: ['Shift'] })
    await message(page, /rows in between are not loaded yet, so they are not selected/)
    await page.getByRole('button', { name: 'Clear the selection' }).click()
    // It begins at its top, too.
    await page.getByRole('columnheader', { name: 'Title' }).click()
    await ordered(page, 'Title', 'ascending')
    await cell(page, 3, 0).click({ modifiers: ['Shift'] })
    await page.getByText('1 selected').waitFor()
    await ui.end()
  })

  test('a column that is dragged wider has one new address, at the end', async () => {
    const ui = await openUi(service!, '/deals?columns=title,id')
    const { page } = ui
    await loaded(page)
    const box = (await page.getByRole('columnheader', { name: 'Title' }).boundingBox())!
    const [x, y] = [box.x + box.width - 3, box.y + box.height / 2]
    const before = page.url()
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(x + 60, y, { steps: 5 })
    assert.equal(page.url(), before)
    await page.mouse.up()
    await page.waitForURL(new RegExp(`columns=title%3A${Math.round(box.width + 60)}`))
    await ui.end()
  })

  test('any place of it is one or two windows away', async () => {
    const ui = await openUi(service!, '/deals?sort=id:asc&columns=title,id')
    const { page } = ui
    const asked: string[] = []
    page.on('request', request => {
      if (request.url().includes('/deal/view/list')) asked.push(request.url())
    })
    await loaded(page)
    const grid = page.getByRole('grid')
    const { body } = await service!.get(`${v1}/deal/view/list?pageSize=1&count=exact`)
    const { total } = body.meta
    await page
      .getByRole('status')
      .filter({ hasText: new RegExp(`^${total.toLocaleString('en-US')}$`) })
      .waitFor()
    // A head; nothing that is shown can be added up, so there is no foot.
    assert.equal(Number(await grid.getAttribute('aria-rowcount')), total + 1)
    asked.length = 0
    await grid.evaluate(element => element.scrollTo({ top: element.scrollHeight / 2 }))
    await grid.locator(`[data-row="${Math.floor(total / 2)}"] a`).waitFor()
    assert.ok(asked.length <= 2, asked.join('\n'))
    asked.length = 0
    await cell(page, 0, 1).or(grid.locator('[data-cell][tabindex="0"]')).first().focus()
    await page.keyboard.press('Control+End')
    await grid.locator(`[data-row="${total - 1}"] a`).waitFor()
    assert.ok(asked.length <= 2, asked.join('\n'))
    assert.ok(await cell(page, total - 1, 2).evaluate(element => element === document.activeElement))
    const nodes = await page.evaluate(() => document.querySelectorAll('*').length)
    assert.ok(nodes <= 2500, `${nodes} nodes`)
    await ui.end()
  })

  test('a cell is changed in place, and that is undone', async () => {
    const [id] = await makeDeals(['Marrowgate plan'])
    const ui = await openUi(service!, only('Marrowgate'))
    const { page } = ui
    await loaded(page)
    await cell(page, 0, 4).dblclick()
    await page.getByRole('dialog').getByRole('textbox').fill('Words about it')
    await page.keyboard.press('Enter')
    await message(page, /Description of Marrowgate plan is changed/)
    await cell(page, 0, 4).getByText('Words about it').waitFor()
    const read = async () => (await service!.get(`${v1}/deal/${id}`)).body.data
    assert.equal((await read()).description, 'Words about it')
    await undo(page, /Description of Marrowgate plan is changed/)
    await page.waitForFunction(() => !document.querySelector('[data-cell="0.4"]')?.textContent)
    // Shown before it is saved, and reported afterwards.
    await message(page, /Undone: Description of Marrowgate plan/)
    assert.equal((await read()).description, null)
    // A refusal restores the old value, and shows the service's words.
    await cell(page, 0, 1).focus()
    await page.keyboard.press('F2')
    await page.getByRole('dialog').getByRole('textbox').fill('')
    await page.keyboard.press('Enter')
    await page.getByText('This is required.').waitFor()
    await page.keyboard.press('Escape')
    assert.equal((await read()).title, 'Marrowgate plan')
    await ui.end()
  })

  test('cells that are filled in by Tab are all saved, however slow the first is', async () => {
    const [id] = await makeDeals(['Tabberley'])
    const ui = await openUi(service!, only('Tabberley'))
    const { page } = ui
    await loaded(page)
    let isFirst = true
    await page.route(new RegExp(`/deal/${id}(\\?|$)`), async route => {
      const isHeld = isFirst && route.request().method() === 'PATCH'
      if (isHeld) {
        isFirst = false
        // Until the other is answered.
        await message(page, /Deal value of Tabberley is changed/)
      }
      await route.continue()
    })
    await cell(page, 0, 2).dblclick()
    await page.getByRole('dialog').getByLabel('Expected close date').fill('2027-08-09')
    await page.keyboard.press('Tab')
    const amount = page.getByRole('dialog', { name: 'Deal value: edit' }).getByRole('textbox').first()
    await amount.fill('4321')
    await amount.press('Enter')
    await message(page, /Expected close date of Tabberley is changed/)
    const read = async () => {
      const { data } = (await service!.get(`${v1}/deal/${id}`)).body
      return [data.expected_close_date, data.deal_value.value]
    }
    assert.equal(isFirst, false)
    assert.deepEqual(await read(), ['2027-08-09', 4321])
    await cell(page, 0, 3).getByText('4,321').waitFor()
    // The first undo is of the row before the other change.
    await undo(page, 'Deal value of Tabberley is changed')
    await undo(page, 'Expected close date of Tabberley is changed')
    await eventually(async () => {
      const [date, value] = await read()
      return date === '2027-05-01' && value === 1000
    }, 'the undo of both')
    await ui.end(/status of 412/)
  })

  test('a deal that is reopened in a cell closes again by Undo, as it had ended', async () => {
    const ids = await makeDeals(['Reopenham 1', 'Reopenham 2'])
    const reason = Object.values(service!.known.options.lost_reason!)[0]!
    const ended = {
      pipeline_stage: service!.known.stages.Lost!,
      lost_reason: reason,
      deal_closed_on: '2026-03-04',
    }
    for (const id of ids) await service!.call('PATCH', `${v1}/deal/${id}`, ended)
    const read = async (id: number) => {
      const { version: _, updated_at: __, ...deal } = (await service!.get(`${v1}/deal/${id}`)).body.data
      return deal
    }
    const was = await Promise.all(ids.map(read))
    const ui = await openUi(service!, only('Reopenham').replace('description', 'pipeline_stage'))
    const { page } = ui
    await loaded(page)
    await cell(page, 0, 4).dblclick()
    await page.getByRole('dialog').getByRole('combobox').selectOption({ label: 'New' })
    await page.keyboard.press('Enter')
    await page.getByText('Its lost reason and date are removed.').waitFor()
    await page.getByRole('button', { name: 'Reopen', exact: true }).click()
    await message(page, /Stage of Reopenham 1 is changed/)
    const { pipeline_stage, lost_reason, deal_closed_on } = await read(ids[0]!)
    assert.deepEqual([pipeline_stage, lost_reason, deal_closed_on], [service!.known.stages.New, null, null])
    await page.getByRole('button', { name: 'Undo' }).first().click()
    await cell(page, 0, 4).getByText('Lost').waitFor()
    await message(page, /Undone: Stage of Reopenham 1/)
    // Including the time of its stage, and of its loss.
    assert.deepEqual(await read(ids[0]!), was[0])
    // Many at once.
    await page.getByRole('columnheader').first().click()
    await page.getByRole('button', { name: 'Change fields…' }).click()
    await page.getByRole('searchbox', { name: 'Field to change' }).fill('Stage')
    await page.getByRole('option', { name: 'Stage', exact: true }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Stage' }).selectOption({ label: 'New' })
    const changeAll = page.getByRole('dialog').getByRole('button', { name: 'Change all 2' })
    await changeAll.click()
    const question = page.getByRole('alertdialog', { name: 'Reopen 2 deals?' })
    await question.getByText('Their reasons and dates are removed.').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await changeAll.click()
    await question.getByRole('button', { name: 'Reopen', exact: true }).click()
    await message(page, /2 deals changed/)
    await undo(page, '2 deals changed')
    await message(page, /2 deals restored/)
    assert.deepEqual(await Promise.all(ids.map(read)), was)
    // By pasted cells, too.
    await page.reload()
    await loaded(page)
    const paste = async (text: string) => {
      await cell(page, 0, 4).click()
      await page.evaluate(pasted => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', pasted)
        const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
        document.activeElement!.dispatchEvent(event)
      }, text)
    }
    await paste('New\nNew\n')
    await question.getByRole('button', { name: 'Cancel' }).click()
    await question.waitFor({ state: 'detached' })
    await paste('New\nLost\n')
    const one = page.getByRole('alertdialog', { name: 'Reopen this deal?' })
    await one.getByText('Reopenham 1').waitFor()
    await one.getByRole('button', { name: 'Reopen', exact: true }).click()
    await message(page, /1 cell is changed/)
    assert.equal((await read(ids[0]!)).pipeline_stage, service!.known.stages.New)
    assert.deepEqual(await read(ids[1]!), was[1])
    // Without a deal that is closed nothing is asked.
    await paste('Qualified\n')
    await cell(page, 0, 4).getByText('Qualified').waitFor()
    await ui.end()
  })

  test('a change that the service refuses leaves the old value, and can be made again', async () => {
    const [id] = await makeDeals(['Clashford'])
    const ui = await openUi(service!, only('Clashford'))
    const { page } = ui
    await loaded(page)
    await cell(page, 0, 4).dblclick()
    await page.getByRole('dialog').getByRole('textbox').fill('mine')
    await service!.call('PATCH', `${v1}/deal/${id}`, { description: 'theirs' })
    await page.keyboard.press('Enter')
    await message(page, /Description of Clashford was not changed/)
    await cell(page, 0, 4).and(page.locator('[aria-invalid=true]')).getByText('theirs').waitFor()
    await page.getByRole('button', { name: 'Edit again' }).click()
    assert.equal(await page.getByRole('dialog').getByRole('textbox').inputValue(), 'mine')
    await page.getByRole('dialog').getByRole('textbox').press('Enter')
    await message(page, /Description of Clashford is changed/)
    await cell(page, 0, 4).getByText('mine').waitFor()
    await ui.end(/status of 412/)
  })

  test('a refused change is made again from far away, and where its row is not listed any more', async () => {
    const [id] = await makeDeals(['Zyxfar'])
    const { page, end } = await openUi(
      service!,
      only('')
        .replace(/filter=[^&]*&/, '')
        .replace('asc', 'desc'),
    )
    await loaded(page)
    await cell(page, 0, 1).getByText('Zyxfar').waitFor()
    const editor = page.getByRole('dialog').getByRole('textbox')
    const again = page.getByRole('button', { name: 'Edit again' })
    const refuse = async (typed: string) => {
      await cell(page, 0, 4).dblclick()
      await editor.fill(typed)
      await service!.call('PATCH', `${v1}/deal/${id}`, { description: `not ${typed}` })
      await page.keyboard.press('Enter')
      await again.waitFor()
    }
    await refuse('far')
    await cell(page, 0, 2).press('Control+End')
    await page.getByRole('grid').getByRole('link').last().waitFor()
    await cell(page, 0, 1).waitFor({ state: 'detached' })
    await again.click()
    assert.equal(await editor.inputValue(), 'far')
    const [box, place] = await Promise.all([editor.boundingBox(), cell(page, 0, 4).boundingBox()])
    assert.ok(Math.abs(box!.y - place!.y) < 30, `the editor at ${box!.y}, its cell at ${place!.y}`)
    await editor.press('Enter')
    await message(page, /Description of Zyxfar is changed/)
    await cell(page, 0, 4).getByText('far').waitFor()
    // In another list.
    await refuse('other')
    await page.getByRole('columnheader', { name: 'Expected close date' }).click()
    await ordered(page, 'Expected close date', 'ascending')
    await again.click()
    await page.getByRole('heading', { level: 1, name: 'Zyxfar' }).waitFor()
    await end(/status of 412/)
  })

  test('a range of cells is pasted, but for what can’t be read', async () => {
    await makeDeals(['Pastewick a', 'Pastewick b', 'Pastewick c'])
    const ui = await openUi(service!, only('Pastewick'))
    const { page } = ui
    await loaded(page)
    await cell(page, 0, 2).click()
    await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', '2027-06-01\t5000 USD\n2027-06-02\tmuch\n2027-06-03\t7000 USD\n')
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.activeElement!.dispatchEvent(event)
    })
    const dialog = page.getByRole('alertdialog')
    await dialog.getByText('Pastewick b, Deal value').waitFor()
    assert.equal(await dialog.getByRole('listitem').count(), 1)
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await message(page, /5 cells are changed/)
    const rows = async () => {
      const query = new URLSearchParams({ filter: 'title:like(Pastewick)', sort: 'title:asc' })
      const { body } = await service!.get(`${v1}/deal/view/list?${query}`)
      return body.data.map((deal: { expected_close_date: string; deal_value: { value: number } }) => [
        deal.expected_close_date,
        deal.deal_value.value,
      ])
    }
    assert.deepEqual(await rows(), [
      ['2027-06-01', 5000],
      ['2027-06-02', 1000],
      ['2027-06-03', 7000],
    ])
    await page.getByRole('button', { name: 'Undo' }).first().click()
    await message(page, /Undone/)
    assert.deepEqual(await rows(), Array(3).fill(['2027-05-01', 1000]))
    await cell(page, 0, 2).click()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowRight')
    const copied = await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      const event = new ClipboardEvent('copy', { clipboardData, bubbles: true, cancelable: true })
      document.activeElement!.dispatchEvent(event)
      return clipboardData.getData('text/plain')
    })
    assert.match(copied, /^2027-05-01\t1,000\S* USD\n2027-05-01\t1,000\S* USD$/)
    // The boxes are no column of the record: nothing is pasted there.
    await cell(page, 0, 0).click()
    const isTaken = await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'Not a title')
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      return !document.activeElement!.dispatchEvent(event)
    })
    assert.equal(isTaken, false)
    await ui.end()
  })

  test('three are deleted, and come back', async () => {
    const ids = await makeDeals(['Delworth 1', 'Delworth 2', 'Delworth 3', 'Delworth 4'])
    const ui = await openUi(service!, only('Delworth'))
    const { page } = ui
    await loaded(page)
    await cell(page, 0, 0).click()
    await cell(page, 2, 0).click({ modifiers: ['Shift'] })
    await page.getByText('3 selected').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await message(page, /3 deals deleted/)
    await page.getByRole('status').filter({ hasText: /^1$/ }).waitFor()
    assert.equal((await service!.get(`${v1}/deal/${ids[0]}`)).status, 404)
    await page.getByRole('button', { name: 'Undo' }).first().click()
    await message(page, /3 deals restored/)
    await page.getByRole('status').filter({ hasText: /^4$/ }).waitFor()
    for (const id of ids) assert.equal((await service!.get(`${v1}/deal/${id}`)).status, 200)
    await ui.end()
  })

  test('all that match are changed at once', async () => {
    const ids = await makeDeals(['Bulkham 1', 'Bulkham 2', 'Bulkham 3'])
    const ui = await openUi(service!, only('Bulkham'))
    const { page } = ui
    await loaded(page)
    await page.getByRole('columnheader').first().click()
    await page.getByText('3 selected').waitFor()
    await page.getByRole('button', { name: 'Change fields…' }).click()
    await page.getByRole('searchbox', { name: 'Field to change' }).fill('Stage')
    await page.getByRole('option', { name: 'Stage', exact: true }).click()
    const dialog = page.getByRole('dialog')
    const select = dialog.getByRole('combobox', { name: 'Stage' })
    await select.selectOption({ label: 'Lost' })
    await dialog.getByRole('button', { name: 'Change all 3' }).click()
    await page.getByRole('combobox', { name: 'Why was it lost?' }).selectOption({ index: 1 })
    await page.getByRole('button', { name: 'Mark as lost' }).click()
    await message(page, /3 deals changed/)
    for (const id of ids) {
      const { data } = (await service!.get(`${v1}/deal/${id}`)).body
      assert.equal(data.pipeline_stage, service!.known.stages.Lost)
      assert.ok(data.lost_reason && data.deal_closed_on)
    }
    await ui.end()
  })

  test('by the keyboard alone', async () => {
    const [first] = await makeDeals(['Keyborough 1', 'Keyborough 2', 'Keyborough 3'])
    const ui = await openUi(service!, only('Keyborough'))
    const { page } = ui
    await loaded(page)
    for (let tabs = 0; tabs < 40; tabs++) {
      await page.keyboard.press('Tab')
      if (await page.evaluate(() => document.activeElement?.hasAttribute('data-cell'))) break
    }
    await isActive(page, 0, 1)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('End')
    await isActive(page, 1, 4)
    await page.keyboard.press('F2')
    await page.getByRole('dialog').getByRole('textbox').waitFor()
    await page.keyboard.type('typed')
    await page.keyboard.press('Shift+Tab')
    // The editor of the cell before it.
    await page.getByRole('dialog', { name: 'Deal value: edit' }).waitFor()
    await page.keyboard.press('Escape')
    await isActive(page, 1, 3)
    await cell(page, 1, 4).getByText('typed').waitFor()
    await page.keyboard.press('Control+Home')
    await isActive(page, 0, 0)
    await page.keyboard.press('Space')
    await page.getByText('1 selected').waitFor()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowRight')
    await isActive(page, -1, 1)
    await page.keyboard.press('Enter')
    await page.waitForURL(/sort=title%3Adesc/)
    await ordered(page, 'Title', 'descending')
    await page.keyboard.press('Shift+ArrowRight')
    await page.waitForURL(/columns=title%3A/)
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Control+ArrowDown')
    await page.keyboard.press('ArrowRight')
    await isActive(page, 2, 1)
    await page.keyboard.press('Enter')
    await page.waitForURL(new RegExp(`/deals/${first}\\?`))
    await ui.end()
  })

  test('rows that others delete leave the focus in the table', async () => {
    const ids = await makeDeals(['Shrinkley 1', 'Shrinkley 2', 'Shrinkley 3'])
    const ui = await openUi(service!, only('Shrinkley'))
    const { page } = ui
    await loaded(page)
    await cell(page, 2, 2).click()
    await isActive(page, 2, 2)
    for (const id of ids.slice(1)) await service!.call('DELETE', `${v1}/deal/${id}`)
    await isActive(page, 0, 2)
    await page.keyboard.press('ArrowLeft')
    await isActive(page, 0, 1)
    await ui.end()
  })

  test('focus, range and Shift stay with their records, wherever others’ changes move them', async () => {
    const ids = await makeDeals(['Moveham 2', 'Moveham 3', 'Moveham 4', 'Moveham 5'])
    const rename = (at: number, title: string) =>
      service!.call('PATCH', `${v1}/deal/${ids[at]}`, { title: `Moveham ${title}` })
    const ui = await openUi(service!, only('Moveham'))
    const { page } = ui
    const titled = (row: number, title: string) => cell(page, row, 1).getByText(`Moveham ${title}`).waitFor()
    const inRange = page.locator('[data-cell][class~="bg-accent-soft!"]')
    await loaded(page)
    await cell(page, 0, 0).click()
    await page.getByText('1 selected').waitFor()
    await cell(page, 1, 4).click()
    await page.keyboard.press('Shift+ArrowDown')
    // One from below goes to the top, and moves all others down.
    await rename(3, '1')
    await titled(0, '1')
    await isActive(page, 3, 4)
    assert.equal(await inRange.count(), 2)
    await page.keyboard.press('F2')
    await page.getByRole('dialog').getByRole('textbox').fill('Of the fourth')
    const saved = page.waitForResponse(answer => answer.request().method() === 'PATCH')
    await page.keyboard.press('Tab')
    await saved
    assert.equal((await service!.get(`${v1}/deal/${ids[2]}`)).body.data.description, 'Of the fourth')
    // The Shift selection goes from the record that was selected, which is the second now.
    await cell(page, 2, 0).click({ modifiers: ['Shift'] })
    await page.getByText('2 selected').waitFor()
    // A range that a record leaves is none any more.
    await cell(page, 1, 4).click()
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    await rename(1, '9')
    await titled(3, '9')
    await isActive(page, 2, 4)
    assert.equal(await inRange.count(), 0)
    await ui.end()
  })

  test('a bad filter is marked at its place', async () => {
    const ui = await openUi(service!, '/deals?filter=titel:eq(x)')
    const { page } = ui
    const said = page.getByText(/There is no field "titel"/)
    await said.waitFor()
    assert.deepEqual([await said.count(), await page.getByRole('grid').count()], [1, 0])
    await page.getByRole('button', { name: 'Edit the filter as text' }).click()
    await page.getByRole('textbox', { name: 'Filter as text' }).fill('title:like(Pastewick')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText(/closing "\)" is missing/).waitFor()
    await page.getByRole('textbox', { name: 'Filter as text' }).fill('or(title:like(Nowhere),id:eq(1))')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('No deals match the filter.').waitFor()
    await ui.end(/status of 400/)
  })

  test('a filter that the bar can’t show is mended as text', async () => {
    const ui = await openUi(service!, '/deals?filter=deal_value:between(5)')
    const { page } = ui
    const box = page.getByRole('textbox', { name: 'Filter as text' })
    await box.fill('title:like(Nowhere at all)')
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByText('No deals match the filter.').waitFor()
    assert.match(decodeURIComponent(page.url()), /Nowhere/)
    // A check that ends after its text was given up changes nothing.
    await page.getByRole('button', { name: 'Edit the filter as text' }).click()
    await box.fill('title:like(Given up)')
    const { promise, resolve } = Promise.withResolvers<void>()
    await page.route(/Given(%20|\+| )up/, route => promise.then(() => route.fallback()))
    await page.getByRole('button', { name: 'Apply' }).click()
    await box.press('Escape')
    const checked = page.waitForResponse(/Given(%20|\+| )up/)
    resolve()
    await (await checked).finished()
    await page.getByRole('button', { name: 'Edit the filter as text' }).click()
    assert.equal(await box.inputValue(), 'title:like(Nowhere at all)')
    await ui.end(/status of 400/)
  })

  test('a record leads back to its list, with its columns, its groups and what is deleted', async () => {
    const [id] = await makeDeals(['Backwick 1', 'Backwick 2'])
    await service!.call('DELETE', `${v1}/deal/${id}`)
    const ui = await openUi(service!, only('Backwick', '&deleted=only&group=pipeline_stage'))
    const { page } = ui
    const { search } = new URL(page.url())
    await page.getByRole('link', { name: 'Backwick 1' }).click()
    await page.getByRole('heading', { level: 1, name: 'Backwick 1' }).waitFor()
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Deals' }).click()
    await page.getByRole('heading', { level: 1, name: 'Deleted deals' }).waitFor()
    assert.deepEqual([...new URL(page.url()).searchParams].sort(), [...new URLSearchParams(search)].sort())
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: /^View/ }).click()
    await page.getByRole('menuitem', { name: 'Copy the link' }).click()
    await message(page, /The link is copied/)
    const copied = new URL(await page.evaluate(() => navigator.clipboard.readText()))
    assert.equal(copied.searchParams.get('deleted'), 'only')
    await ui.end(/404/)
  })

  test('what is deleted is listed, and restored', async () => {
    const [id] = await makeDeals(['Restorely'])
    await service!.call('DELETE', `${v1}/deal/${id}`)
    const ui = await openUi(service!, only('Restorely', '&deleted=only'))
    const { page } = ui
    await loaded(page)
    await page.getByRole('heading', { name: 'Deleted deals' }).waitFor()
    await cell(page, 0, 0).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await message(page, /1 deal restored/)
    await page.getByText('No deals match the filter.').waitFor()
    assert.equal((await service!.get(`${v1}/deal/${id}`)).status, 200)
    await ui.end()
  })

  test('many that fail are told, each with its reason, and are tried again', async () => {
    const ids = await makeDeals(['Faildale 1', 'Faildale 2'])
    const ui = await openUi(service!, only('Faildale'))
    const { page } = ui
    await loaded(page)
    await page.getByRole('columnheader').first().click()
    await page.getByRole('button', { name: 'Change fields…' }).click()
    await page.getByRole('option', { name: 'Forecast category', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Commit', { exact: true }).click()
    // Without a date, a deal can't be forecast (rule 5).
    await service!.call('PATCH', `${v1}/deal/${ids[0]}`, { expected_close_date: null })
    await dialog.getByRole('button', { name: 'Change all 2' }).click()
    const failures = page.getByRole('alertdialog')
    await failures.getByText('1 deal could not be changed').waitFor()
    await failures.getByText('Faildale 1').waitFor()
    await service!.call('PATCH', `${v1}/deal/${ids[0]}`, { expected_close_date: '2027-01-01' })
    await failures.getByRole('button', { name: 'Retry those' }).click()
    const { Commit } = service!.known.options.forecast_category!
    await eventually(async () => {
      const records = await Promise.all(ids.map(id => service!.get(`${v1}/deal/${id}`)))
      return records.every(({ body }) => body.data.forecast_category === Commit)
    }, 'the change of both')
    // Of both runs, each with its own undo.
    await page.getByRole('log', { name: 'Messages' }).getByText('1 deal changed.').last().waitFor()
    await ui.end(/status of 422/)
  })

  test('the board has views as well, and begins with one', async () => {
    const ui = await openUi(service!, '/board')
    const { page } = ui
    await page.getByRole('button', { name: 'Mine' }).click()
    await page.waitForURL(/filter=/)
    await page.getByRole('button', { name: 'Save view…' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('My board')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'View: My board' }).click()
    await page.getByRole('menuitem', { name: 'Open by default' }).click()
    await page.goto(`${service!.url}/board`)
    await page.waitForURL(/filter=sales_owner/)
    await page.getByRole('button', { name: 'View: My board' }).waitFor()
    // All deals stay chosen, also after a filter that was set and removed.
    await page.getByRole('button', { name: 'View: My board' }).click()
    await page.getByRole('menuitem', { name: 'All deals' }).click()
    await page.getByRole('button', { name: 'View: All deals' }).waitFor()
    await page.getByRole('button', { name: 'Mine', pressed: false }).click()
    await page.getByRole('button', { name: 'Mine', pressed: true }).click()
    await page.waitForURL(url => !url.searchParams.has('filter'))
    await page.getByRole('button', { name: 'View: All deals' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('filter'), null)
    // Views that can't be read are not taken for none.
    await page.route('**/view/view/list?*', route => route.fulfill({ status: 500, body: '{}' }))
    await page.goto(`${service!.url}/deals?view=1`)
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.unroute('**/view/view/list?*')
    await page.getByRole('button', { name: 'Try again' }).click()
    await loaded(page)
    await ui.end(/status of 500|answered 500/)
  })

  test('a table without anything says what to do', async () => {
    const empty = await startService({ sampleData: false })
    const ui = await openUi(empty, '/deals')
    await ui.page.getByText('There are no deals yet.').waitFor()
    await ui.accessible('an empty table')
    await ui.end()
  })

  test('a stage is pasted by its name into a deal of any pipeline', async () => {
    const { call, get, known } = service!
    const pipeline = (await call('POST', `${v1}/pipeline`, { name: 'Pasted renewals' })).body.data.id
    const stage = async (name: string) =>
      (await call('POST', `${v1}/pipeline_stage`, { name, pipeline, kind: 'Open' })).body.data.id
    const [begun, qualified] = [await stage('New'), await stage('Qualified')]
    const [id] = await makeDeals(['Pastestage'])
    await call('PATCH', `${v1}/deal/${id}`, { pipeline, pipeline_stage: begun })
    const query = new URLSearchParams({ filter: 'title:like(Pastestage)', columns: 'title,pipeline_stage' })
    const ui = await openUi(service!, `/deals?${query}`)
    const { page } = ui
    await loaded(page)
    await cell(page, 0, 2).click()
    await page.evaluate(() => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', 'Qualified')
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.activeElement!.dispatchEvent(event)
    })
    await message(page, /1 cell is changed/)
    assert.equal((await get(`${v1}/deal/${id}`)).body.data.pipeline_stage, qualified)
    await ui.end()
    await call('DELETE', `${v1}/pipeline/${pipeline}?move_to=${known.pipeline}`)
  })

  test('it can be used by everybody', async () => {
    for (const [path, what] of [
      ['/deals', 'a filled table'],
      ['/deals?filter=title:eq(nothing like it)', 'no match'],
      ['/deals?deleted=only&filter=title:eq(nothing)', 'nothing deleted'],
      ['/contacts', 'contacts'],
    ] as const) {
      const ui = await openUi(service!, path)
      if (path === '/deals' || path === '/contacts') await loaded(ui.page)
      else await ui.page.getByText(/match the filter/).waitFor()
      await ui.accessible(what)
      await ui.end()
    }
    const ui = await openUi(service!, '/deals')
    await loaded(ui.page)
    await cell(ui.page, 0, 0).click()
    await ui.page.getByText('1 selected').waitFor()
    await ui.accessible('a selection')
    await ui.end()
    const phone = await openUi(service!, '/deals', { size: { width: 320, height: 640 } })
    await phone.page.getByRole('listitem').first().waitFor()
    const isWider = await phone.page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
    assert.equal(isWider, false)
    await phone.accessible('a phone')
    await phone.end()
  })
})
