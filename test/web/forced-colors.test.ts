/**
 * Forced colours, such as high contrast, hide backgrounds: the focus and the selection have an outline. And
 * axe finds no violation in what opens over a page.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Locator } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { focusIn, openUi } from '../support/ui.ts'

const service = await startService()
const { call, known } = service
const skip = noBrowser
const forced = { context: { forcedColors: 'active' } } as const

async function makeDeal(title: string): Promise<number> {
  const reply = await call('POST', `${v1}/deal`, dealBody(known, { title }))
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

/** Fails unless an element has an outline. */
async function isMarked(what: string, element: Locator): Promise<void> {
  const { style, width } = await element.evaluate(one => {
    const { outlineStyle, outlineWidth } = getComputedStyle(one)
    return { style: outlineStyle, width: Number.parseFloat(outlineWidth) }
  })
  assert.ok(style !== 'none' && width >= 1, `${what}: ${style} ${width}`)
}

test('forced colours: the board', { skip }, async () => {
  await makeDeal('Forced 1')
  await makeDeal('Forced 2')
  const { page, end } = await openUi(service, '/board?filter=title:like(Forced)&sort=title:asc', forced)
  const card = page.getByRole('link', { name: 'Forced 1' })
  await card.waitFor()
  await card.focus()
  await page.keyboard.press('ArrowDown')
  await isMarked('the card with the focus', page.locator(':focus'))
  await page.keyboard.press('Space')
  await page.keyboard.press('ArrowUp')
  await isMarked('a selected card', page.locator('[data-card][data-selected]'))
  await page.keyboard.press('m')
  const entries = page.getByRole('menu')
  await focusIn(entries)
  await page.keyboard.press('ArrowDown')
  await isMarked('the entry of a menu', page.locator('[role^=menuitem]:focus'))
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Search and commands' })
  await focusIn(palette.getByPlaceholder(/^Search deals/))
  await page.keyboard.press('ArrowDown')
  await isMarked('what is chosen in the palette', palette.locator('[role=menuitem][data-focused]'))
  await end()
})

test('forced colours: the page of a deal', { skip }, async () => {
  const id = await makeDeal('Forced page')
  const { page, end } = await openUi(service, `/deals/${id}`, forced)
  const stages = page.getByRole('radiogroup', { name: 'Stage' })
  await isMarked('the stage', stages.getByRole('radio', { checked: true }))
  await isMarked('the tab', page.getByRole('tab', { selected: true }))
  await stages.getByRole('radio', { name: 'New' }).focus()
  await page.keyboard.press('ArrowRight')
  await isMarked('the stage with the focus', page.locator(':focus'))
  await page.getByRole('button', { name: /^Edit Sales owner/ }).press('Enter')
  await page.keyboard.press('ArrowDown')
  await page.getByRole('option').first().waitFor()
  await isMarked('an option', page.locator('[role=option][data-focused]').first())
  await isMarked('an input', page.locator(':focus'))
  await end()
})

test('forced colours: a table', { skip }, async () => {
  const { page, end } = await openUi(service, '/deals?sort=id:desc', forced)
  await page.getByRole('grid').getByRole('link').first().waitFor()
  await page.locator('[data-cell="0.1"]').click()
  await page.keyboard.press('ArrowDown')
  await isMarked('the cell with the focus', page.locator(':focus'))
  await page.keyboard.press('Space')
  await isMarked('a selected row', page.locator('[role=row][aria-selected=true]').first())
  await end()
})

test('what opens over a page is accessible', { skip }, async () => {
  const id = await makeDeal('Opened over')
  const { page, accessible, end } = await openUi(service, `/deals/${id}`)
  await page.getByRole('button', { name: 'Actions', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Edit all fields' }).waitFor()
  await accessible('the menu of a deal')
  await page.keyboard.press('Escape')
  await page.keyboard.press('Control+k')
  await page
    .getByRole('dialog', { name: 'Search and commands' })
    .getByPlaceholder(/^Search/)
    .waitFor()
  await accessible('the palette')
  await page.keyboard.press('Escape')
  await page.keyboard.press('?')
  await page.getByRole('dialog').getByRole('heading').first().waitFor()
  await accessible('the sheet of keys')
  await end()
})

test('what opens over a table is accessible', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/deals')
  await page.getByRole('grid').getByRole('link').first().waitFor()
  for (const name of [/^Columns/, /^Sort/, /^(Add )?[Ff]ilter/, /^Views?/]) {
    await page.getByRole('button', { name }).first().click()
    await page.locator('.floating').first().waitFor()
    await accessible(`what ${name} opens`)
    await page.keyboard.press('Escape')
    await page.locator('.floating').first().waitFor({ state: 'detached' })
  }
  await end()
})
