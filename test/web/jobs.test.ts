/** Jobs in the browser (D82, D84): a change of all that a filter finds, its undo, and the list of jobs. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { eventually } from '../support/eventually.ts'
import { startService, v1 } from '../support/service.ts'
import { focusIn, openUi, twoFrames } from '../support/ui.ts'

const service = noBrowser ? null : await startService()
const many = 130
const stocked = (prefix: string) =>
  `/products?filter=${encodeURIComponent(`name:like(${prefix})`)}&sort=id:asc`

async function makeProducts(prefix: string): Promise<number[]> {
  const operations = Array.from({ length: many }, (_, index) => ({
    op: 'create',
    data: { name: `${prefix} ${index}`, quantity_in_stock: index % 2 },
  }))
  const { body } = await service!.call('POST', `${v1}/product/batch`, { operations })
  assert.equal(body.meta.failed, 0)
  return body.data.map(({ data }: { data: { id: number } }) => data.id)
}

const count = async (filter: string) =>
  (await service!.get(`${v1}/product/view/list?pageSize=1&count=exact&filter=${filter}`)).body.meta.total

/** Selects all products of the filter, and fills in their new stock. */
async function fillStock(page: Page, stock: string): Promise<void> {
  await page.getByRole('grid').getByRole('link').first().waitFor()
  await page.getByRole('columnheader').first().click()
  await page.getByText(`${many} selected`).waitFor()
  await page.getByRole('button', { name: 'Change fields…' }).click()
  await page.getByRole('searchbox', { name: 'Field to change' }).fill('Quantity')
  await page.getByRole('option', { name: /Quantity in stock/ }).click()
  await page.getByRole('dialog').getByRole('textbox', { name: 'Quantity in stock' }).fill(stock)
}

/** Selects all products of the filter, and sets their new stock. */
async function askForStock(page: Page, stock: string): Promise<void> {
  await fillStock(page, stock)
  await page.getByRole('button', { name: `Change all ${many}` }).click()
  await page.getByText('nothing has been changed yet').waitFor()
}

suite('Jobs', { skip: noBrowser }, () => {
  test('all that a filter finds are changed, counted first, and undone', async () => {
    const [first] = await makeProducts('Jobson')
    const ui = await openUi(service!, stocked('Jobson'))
    const { page } = ui
    await askForStock(page, '1')
    assert.equal(await count('name:like(Jobson ),quantity_in_stock:eq(1)'), many / 2)
    await ui.accessible('what would be changed')
    await page.getByRole('button', { name: `Change ${many / 2}`, exact: true }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    assert.equal(await count('name:like(Jobson ),quantity_in_stock:eq(1)'), many)
    await ui.accessible('what was changed')
    // Records that another user has changed since stay, and are named.
    await service!.call('PATCH', `${v1}/product/${first}`, { quantity_in_stock: 7 })
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Undo it' }).click()
    await page.getByRole('dialog').getByRole('link', { name: 'Jobson 0' }).waitFor()
    await ui.accessible('what was undone')
    assert.equal(await count('name:like(Jobson ),quantity_in_stock:eq(0)'), many / 2 - 1)
    await page.getByRole('button', { name: 'Close' }).last().click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await ui.end()
  })

  test('a change of a few that were selected is listed with its undo, also after a reload', async () => {
    const ids = (await makeProducts('Few')).slice(0, 3)
    const ui = await openUi(service!, stocked('Few'))
    const { page } = ui
    await page.getByRole('grid').getByRole('link').first().waitFor()
    for (const row of [0, 1, 2]) await page.locator(`[data-cell="${row}.0"]`).click()
    await page.getByText('3 selected').waitFor()
    await page.getByRole('button', { name: 'Change fields…' }).click()
    await page.getByRole('searchbox', { name: 'Field to change' }).fill('Quantity')
    await page.getByRole('option', { name: /Quantity in stock/ }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Quantity in stock' }).fill('77')
    await page.getByRole('button', { name: 'Change all 3' }).click()
    await page.getByText('3 products changed.').waitFor()
    assert.equal(await count('name:like(Few),quantity_in_stock:eq(77)'), 3)
    await page.goto(`${service!.url}/jobs`)
    const row = page.getByRole('row', { name: /Change of products/ }).first()
    await row.getByRole('button', { name: /^Undo/ }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Undo it' }).click()
    await row.getByText('Undone').waitFor()
    assert.equal(await count('name:like(Few),quantity_in_stock:eq(77)'), 0)
    const { body } = await service!.call('GET', `${v1}/product/${ids[1]}`)
    assert.equal(body.data.quantity_in_stock, 1)
    await ui.end()
  })

  test('what is left out stays, and a change that is not made leaves no job that waits', async () => {
    await makeProducts('Leaver')
    const ui = await openUi(service!, stocked('Leaver'))
    const { page } = ui
    await askForStock(page, '5')
    await page.getByRole('button', { name: 'Change nothing' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const newest = async () => (await service!.get(`${v1}/job?pageSize=1`)).body.data[0]
    await eventually(async () => (await newest()).state === 'cancelled', 'a cancelled job')
    await page.getByRole('columnheader').first().click()
    await page.locator('[data-cell="0.0"]').click()
    await page.getByText(`${many - 1} selected`).waitFor()
    await page.getByRole('button', { name: 'Change fields…' }).click()
    await page.getByRole('searchbox', { name: 'Field to change' }).fill('Quantity')
    await page.getByRole('option', { name: /Quantity in stock/ }).click()
    await page.getByRole('dialog').getByRole('textbox', { name: 'Quantity in stock' }).fill('9')
    await page.getByRole('button', { name: `Change all ${many - 1}` }).click()
    await page.getByRole('button', { name: `Change ${many - 1}`, exact: true }).click()
    await page.getByRole('button', { name: 'Undo' }).waitFor()
    assert.equal(await count('name:like(Leaver ),quantity_in_stock:eq(9)'), many - 1)
    await ui.end()
  })

  for (const isClosedFirst of [true, false]) {
    const when = isClosedFirst ? 'when nobody looks at it' : 'as its dialog is closed'
    test(`one that ends ${when} says so, and is undone from there`, async () => {
      const prefix = isClosedFirst ? 'Closer' : 'Ender'
      await makeProducts(prefix)
      const ui = await openUi(service!, stocked(prefix))
      const { page } = ui
      await askForStock(page, '8')
      // The dialog gets the end only once it is closed; the list of running jobs before, or after.
      const [heldJob, heldList] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      await page.route(/\/job\/\d+$/, route => heldJob.promise.then(() => route.continue()))
      await page.route(/\/job\?/, route => heldList.promise.then(() => route.continue()))
      const heard = page.waitForResponse(
        async answer =>
          /\/job\?/.test(answer.url()) && answer.ok() && (await answer.json()).data[0].state === 'done',
      )
      await page.getByRole('button', { name: `Change ${many}`, exact: true }).click()
      await page.getByRole('button', { name: 'Pause' }).waitFor()
      if (!isClosedFirst) {
        heldList.resolve()
        await heard
      }
      await page.getByRole('button', { name: 'Close' }).last().click()
      await page.getByText('It continues. You find it under Jobs.').waitFor()
      heldList.resolve()
      await page.getByRole('log').getByText('Change of products: done.').waitFor()
      await heard
      assert.equal(await count(`name:like(${prefix} ),quantity_in_stock:eq(8)`), many)
      heldJob.resolve()
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByRole('log').getByText('Change of products: undone.').waitFor()
      assert.equal(await count(`name:like(${prefix} ),quantity_in_stock:eq(8)`), 0)
      await ui.end()
    })
  }

  test('a change whose dialog is closed while it begins shows nothing, and is cancelled', async () => {
    await makeProducts('Givenup')
    const ui = await openUi(service!, stocked('Givenup'))
    const { page } = ui
    await fillStock(page, '3')
    const held = Promise.withResolvers<void>()
    await page.route(/\/product\/bulk\?/, route => held.promise.then(() => route.continue()))
    page.on('dialog', question => void question.accept())
    await page.getByRole('button', { name: `Change all ${many}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const cancelled = page.waitForResponse(answer => /\/job\/\d+\/cancel$/.test(answer.url()))
    held.resolve()
    assert.equal((await (await cancelled).json()).data.state, 'cancelled')
    assert.equal(await page.getByRole('dialog').count(), 0)
    await page.getByText(`${many} selected`).waitFor()
    await ui.end()
  })

  test('the list of jobs says what each is, and takes back', async () => {
    await makeProducts('Lister')
    const asked = { filter: 'name:like(Lister )', changes: { quantity_in_stock: 4 } }
    const { body } = await service!.call('POST', `${v1}/product/bulk`, asked)
    const ui = await openUi(service!, '/board')
    const { page } = ui
    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Jobs' }).click()
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor()
    const row = page.getByRole('row').filter({ has: page.locator(`a[href="/jobs/${body.data.id}"]`) })
    await row.getByText('Done').waitFor()
    await row.getByText(`${many} of ${many} records`).waitFor()
    await ui.accessible('the list of jobs')
    // A job that was cancelled does not come back: it is asked first.
    const waiting = await service!.call('POST', `${v1}/product/bulk?dry_run=1`, asked)
    const other = page
      .getByRole('row')
      .filter({ has: page.locator(`a[href="/jobs/${waiting.body.data.id}"]`) })
    await page.reload()
    const state = async () => (await service!.get(`${v1}/job/${waiting.body.data.id}`)).body.data.state
    await eventually(async () => (await state()) === 'waiting', 'the end of the dry run')
    await other.getByRole('button', { name: /^Cancel/ }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Keep running' }).click()
    assert.equal(await state(), 'waiting')
    await other.getByRole('button', { name: /^Cancel/ }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel the job' }).click()
    await other.getByText('Cancelled').waitFor()
    await row.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('button', { name: 'Undo it' }).click()
    await row.getByText('Undone').waitFor()
    assert.equal(await count('name:like(Lister ),quantity_in_stock:eq(4)'), 0)
    await row.getByRole('link').click()
    await page.getByRole('heading', { level: 2, name: 'Undone' }).waitFor()
    await ui.accessible('a job')
    await ui.end()
    const small = await openUi(service!, '/jobs', { size: { width: 390, height: 844 } })
    await small.page.getByRole('row').first().waitFor()
    assert.ok(await small.page.evaluate(() => document.querySelector('main')!.scrollWidth <= innerWidth))
    await small.accessible('the list of jobs on a phone')
    await small.end()
  })

  test('who may not see jobs or import is shown neither', async () => {
    const { call } = service!
    const read = ['contact', 'company', 'field', 'view', 'user', 'territory', 'tag', 'deal', 'product']
    const scopes = [...read.map(name => `${name}:read`), 'deal:write', 'product:write']
    const role = (await call('POST', `${v1}/role`, { name: 'Plain', scopes })).body.data.id
    const made = await call('POST', `${v1}/user`, { name: 'Plain', email: 'plain@example.com', role })
    const ui = await openUi(service!, '/products', { user: made.body.data.id })
    const { page } = ui
    await page.getByRole('grid').getByRole('link').first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Import' }).count(), 0)
    await page.getByRole('button', { name: /your account/ }).click()
    await page.getByRole('menuitem', { name: 'Your profile' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: 'Jobs' }).count(), 0)
    await focusIn(page.getByRole('menu'))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    const found = page.waitForResponse(/\/search\?q=import/)
    await page.getByRole('searchbox').fill('import')
    await (await found).finished()
    await twoFrames(page)
    assert.deepEqual(await page.getByRole('menuitem').allTextContents(), ['Create deal “import”'])
    await page.goto(`${service!.url}/import?resource=deal`)
    await page.getByText('Your role may not import').waitFor()
    await page.goto(`${service!.url}/jobs`)
    await page.getByText('Your role may not see jobs').waitFor()
    await ui.end()
  })
})
