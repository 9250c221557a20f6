/** The reports in a browser: their numbers are those of the service, and each links to its deals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { noBrowser } from '../support/chromium.ts'
import { dealBody, startService, v1 } from '../support/service.ts'
import { openUi, resize, widths } from '../support/ui.ts'

const service = await startService()
const { call, known } = service
const skip = noBrowser

const close = { lost_reason: 'Price is too high', deal_closed_on: '2026-01-15' }
for (const [title, value, more] of [
  ['Wide open', 1000, { expected_close_date: '2031-01-10', forecast_category: 'Commit' }],
  ['Open in euro', 2000, { expected_close_date: '2031-01-20', deal_value: { currency: 'EUR', value: 2000 } }],
  ['Later', 4000, { expected_close_date: '2031-03-01', pipeline_stage: known.stages.Proposal! }],
  ['Not dated', 8000, {}],
  ['Lost there', 16000, { expected_close_date: '2031-01-11', pipeline_stage: known.stages.Lost!, ...close }],
] as const) {
  const deal_value = { currency: 'USD', value }
  const reply = await call('POST', `${v1}/deal`, dealBody(known, { title, deal_value, ...more }))
  assert.equal(reply.status, 201, reply.text)
}

const money = (value: number) =>
  new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits: Number.isInteger(value) ? 0 : 2,
  }).format(value)

async function sums(filter: string, group_by?: string) {
  const query = new URLSearchParams({ filter, ...(group_by ? { group_by } : {}) })
  const { status, text, body } = await call('GET', `${v1}/deal/aggregate?${query}`)
  assert.equal(status, 200, text)
  return body.data
}

/** The texts of a table, row by row. */
async function rowsOf(page: Page, name: string): Promise<string[][]> {
  const table = page.getByRole('table', { name })
  await table.waitFor()
  return table.evaluate(element =>
    [...(element as HTMLTableElement).rows].map(row =>
      [...row.cells].map(cell => (cell.textContent ?? '').trim()),
    ),
  )
}

/** The names of all reports, from the links of the page. */
async function reportsOf(page: Page): Promise<string[]> {
  const links = page.getByRole('navigation', { name: 'Reports' }).getByRole('link')
  await links.first().waitFor()
  const addresses = await links.evaluateAll(all => all.map(link => (link as HTMLAnchorElement).href))
  assert.ok(addresses.length >= 5)
  return addresses.map(address => new URL(address).searchParams.get('report') ?? 'forecast')
}

const inPeriod = 'status:eq(Open),expected_close_date:between(2031-01-01,2031-03-31)'

/** A user whose role hides the value of deals. */
async function whoSeesNoAmounts(): Promise<number> {
  const member = (await call('GET', `${v1}/role/3`)).body.data
  const hidden = { name: 'No amounts', scopes: member.scopes, hidden_fields: ['deal.deal_value'] }
  const role = await call('POST', `${v1}/role`, hidden)
  assert.equal(role.status, 201, role.text)
  const user = { name: 'Nora Nosum', email: 'nora@example.com', role: role.body.data.id }
  const reply = await call('POST', `${v1}/user`, user)
  assert.equal(reply.status, 201, reply.text)
  return reply.body.data.id
}

test('whoever sees no amounts sees how many deals there are, and no sum of nothing', { skip }, async () => {
  const user = await whoSeesNoAmounts()
  const { page, accessible, end } = await openUi(service, '/forecast?from=2031-01&months=3', { user })
  const [{ count }] = await sums(inPeriod)
  await page.getByRole('group', { name: 'Forecast by month' }).waitFor()
  await page.getByRole('link', { name: 'Jan 2031, open: 2 deals' }).waitFor()
  await page.getByText('Open deals', { exact: true }).locator('..').getByText(String(count)).waitFor()
  await page.getByText(/Not in this forecast: .* without a close date$/).waitFor()
  await accessible('a forecast without amounts')
  for (const report of await reportsOf(page)) {
    for (const shown of ['Chart', 'Table']) {
      await page.goto(`${service.url}/forecast?from=2026-01&months=12&report=${report}`)
      await page.getByRole('button', { name: shown }).click()
      await page.locator('.waiting').first().waitFor({ state: 'detached' })
      const text = await page.locator('main').innerText()
      assert.doesNotMatch(text, /\$|Weighted|NaN/, `${report}, ${shown}`)
    }
  }
  await end()
})

test('the forecast has the sums of the service; lost deals never count', { skip }, async () => {
  const { page, accessible, end } = await openUi(service, '/forecast?from=2031-01&months=3')
  await page.getByRole('group', { name: 'Forecast by month' }).waitFor()
  await accessible('forecast')
  await page.getByRole('button', { name: 'Table' }).click()
  await page.getByRole('cell', { name: '$0', exact: true }).first().waitFor()
  const [, january, february, march, together] = await rowsOf(page, 'Forecast by month')
  const months = await sums(inPeriod, 'expected_close_date:month')
  const of = (month: string) => months.find(({ group }: { group: string }) => group === month)
  for (const [row, month] of [
    [january, '2031-01-01'],
    [march, '2031-03-01'],
  ] as const) {
    const { count, deal_value_in_base_currency: best, weighted_value_in_base_currency: weighted } = of(month)
    assert.deepEqual(row!.slice(1, 4), [String(count), money(best.value), money(weighted.value)])
  }
  assert.equal(january![1], '2')
  assert.deepEqual(february!.slice(1), ['0', '$0', '$0', '0', '$0'])
  const [total] = await sums(inPeriod)
  assert.deepEqual(together!.slice(1, 4), [
    String(total.count),
    money(total.deal_value_in_base_currency.value),
    money(total.weighted_value_in_base_currency.value),
  ])
  const currencies = await rowsOf(page, 'Forecast by currency')
  assert.deepEqual(
    currencies.slice(1, 3).map(row => row.slice(0, 2)),
    [
      ['EUR', '€2,000'],
      ['USD', '$5,000'],
    ],
  )
  await accessible('forecast as a table')
  await end()
})

const wonOn = async (deal_closed_on: string, value: number) => {
  const won = { pipeline_stage: known.stages.Won!, won_reason: 'Price', deal_closed_on }
  const body = dealBody(known, { title: 'Won then', deal_value: { currency: 'USD', value }, ...won })
  const reply = await call('POST', `${v1}/deal`, body)
  assert.equal(reply.status, 201, reply.text)
}

test('what was won stands beside the period before', { skip }, async () => {
  await wonOn('2021-03-31', 400)
  await wonOn('2021-04-01', 500)
  await wonOn('2021-06-30', 100)
  const { page, accessible, end } = await openUi(service, '/forecast?from=2021-04&months=3')
  const figure = page.getByText('in the 3 months before').locator('..')
  // With the sign of the currency, which is fetched separately.
  await figure.getByText('$600', { exact: true }).waitFor()
  assert.equal(await figure.innerText(), 'Won\n$600\n$400 in the 3 months before: +50%')
  await accessible('a forecast beside the period before')
  await figure.getByRole('link', { name: '$400' }).click()
  await page.getByRole('grid').getByRole('link', { name: 'Won then' }).waitFor()
  assert.equal(await page.getByRole('grid').getByRole('link', { name: 'Won then' }).count(), 1)
  await end()
})

test('a period under way is compared with as much of the one before; one to come with none', {
  skip,
}, async () => {
  await wonOn('2041-02-15', 600)
  await wonOn('2041-02-16', 50)
  await wonOn('2040-11-15', 400)
  await wonOn('2040-11-16', 1000)
  const { page, end } = await openUi(service, '/forecast')
  await page.clock.setFixedTime(new Date('2041-02-15T12:00:00Z'))
  await page.goto(`${service.url}/forecast?from=2041-01&months=3`)
  const figure = page.getByText('in the 3 months before').locator('..')
  await figure.getByText('$650', { exact: true }).waitFor()
  assert.equal(await figure.innerText(), 'Won\n$650\n$400 by Nov 15 in the 3 months before: +50%')
  await page.goto(`${service.url}/forecast?from=2041-04&months=3`)
  await page.getByText('Won', { exact: true }).first().waitFor()
  await page.getByRole('group', { name: 'Forecast by month' }).waitFor()
  assert.equal(await page.getByText('months before').count(), 0)
  await end()
})

test('deals without a date are said, with a link to them', { skip }, async () => {
  const filter = 'status:eq(Open),or(expected_close_date:isnull(true),deal_value:isnull(true))'
  const [{ count }] = await sums(filter)
  assert.ok(count > 0)
  const { page, end } = await openUi(service, '/forecast')
  const line = page.getByRole('listitem').filter({ hasText: 'without a close date or a value' })
  await line.getByRole('link', { name: `${count} deals` }).click()
  await page.waitForURL(url => url.pathname === '/deals')
  assert.equal(new URL(page.url()).searchParams.get('filter'), filter)
  await end()
})

test('marks are reached by arrow keys, and lead to the deals behind them', { skip }, async () => {
  const { page, end } = await openUi(service, '/forecast?from=2031-01&months=3')
  const chart = page.getByRole('group', { name: 'Forecast by month' })
  const first = chart.getByRole('link', { name: /^Jan 2031, weighted/ })
  await first.focus()
  await page.keyboard.press('ArrowRight')
  const second = chart.getByRole('link', { name: /^Jan 2031, best case: .*, 2 deals$/ })
  assert.equal(await second.evaluate(mark => mark === document.activeElement), true)
  await page.keyboard.press('End')
  const last = chart.getByRole('link', { name: /^Mar 2031, best case/ })
  assert.equal(await last.evaluate(mark => mark === document.activeElement), true)
  // Without that mark the chart still has one stop.
  await page.getByLabel('From year').selectOption('2030')
  await page.getByLabel('From month').selectOption('December')
  await last.waitFor({ state: 'detached' })
  await chart.locator('a[data-mark][tabindex="0"]').waitFor()
  await page.getByLabel('From month').selectOption('January')
  await page.getByLabel('From year').selectOption('2031')
  await last.waitFor()
  // Sums that can't be read again stay, and say so.
  await page.route('**/deal/aggregate?*', route => route.fulfill({ status: 500, body: '{}' }))
  await page.evaluate(() => dispatchEvent(new Event('visibilitychange')))
  await call('POST', `${v1}/deal`, dealBody(known, { title: 'Read again' }))
  await page.getByRole('alert').getByText('This is the last data that was loaded.').first().waitFor()
  await last.focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(url => url.pathname === '/deals')
  assert.equal(
    new URL(page.url()).searchParams.get('filter'),
    'status:eq(Open),expected_close_date:between(2031-03-01,2031-03-31)',
  )
  await end(/status of 500/)
})

test('deals that are in no bar are not left out in silence where they could not be counted', {
  skip,
}, async () => {
  const { page, end } = await openUi(service, '/settings')
  const uncounted = /\/deal\/aggregate\?.*expected_close_date%3Alt/
  await page.route(uncounted, route => route.fulfill({ status: 500, body: '{}' }))
  await page.goto(`${service.url}/forecast?from=2031-01&months=2`)
  await page.getByRole('alert').waitFor()
  await page.unroute(uncounted)
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.getByText(/Not in this forecast: .* expected before or after these months$/).waitFor()
  await end(/status of 500/)
})

test('pipeline, owner and months are in the address', { skip }, async () => {
  const { page, end } = await openUi(service, '/forecast')
  const owner = page.getByLabel('Owner')
  await owner.locator('option').nth(1).waitFor({ state: 'attached' })
  // So quickly that the second choice precedes the drawing of the first.
  await page.evaluate(
    chosen => {
      for (const [label, index] of chosen) {
        const select = [...document.querySelectorAll('select')].find(
          ({ labels }) => labels[0]?.textContent === label,
        )!
        select.selectedIndex = index
        select.dispatchEvent(new Event('change', { bubbles: true }))
      }
    },
    [
      ['Owner', 1],
      ['Months', 0],
    ] as const,
  )
  await page.waitForURL(/owner=\d+.*months=3/)
  // A browser without a picker of months has them, too; so has whoever gets the address the table.
  await page.getByLabel('From month').selectOption('March')
  await page.getByLabel('From year').selectOption({ index: 0 })
  await page.getByRole('button', { name: 'Table' }).click()
  await page.waitForURL(/from=\d{4}-03.*view=table/)
  await page.reload()
  await page.getByRole('button', { name: 'Table', pressed: true }).waitFor()
  assert.equal(await page.getByLabel('From month').inputValue(), '03')
  assert.equal(await page.getByLabel('Months').inputValue(), '3')
  await page.getByRole('navigation', { name: 'Reports' }).getByRole('link', { name: 'Reasons' }).click()
  await page.waitForURL(url => url.searchParams.get('report') === 'reasons' && url.searchParams.has('owner'))
  assert.equal(new URL(page.url()).searchParams.get('months'), null)
  await end()
})

test('what an address restricts is shown, also to who reads neither users nor pipelines', {
  skip,
}, async () => {
  const scopes = ['deal:read', 'field:read', 'currency:read', 'view:read']
  const role = await call('POST', `${v1}/role`, { name: 'Deals only', scopes })
  const user = { name: 'Dora Deals', email: 'dora@example.com', role: role.body.data.id }
  const { id } = (await call('POST', `${v1}/user`, user)).body.data
  const { page, end } = await openUi(service, `/forecast?owner=1&pipeline=${known.pipeline}`, { user: id })
  const chosen = (label: string) => page.getByLabel(label).locator('option:checked').textContent()
  await page.getByLabel('Owner').waitFor()
  assert.deepEqual([await chosen('Owner'), await chosen('Pipeline')], ['No. 1', `No. ${known.pipeline}`])
  await page.getByLabel('Owner').selectOption({ label: 'Everybody' })
  await page.waitForURL(url => !url.searchParams.has('owner'))
  await end()
})

test('reasons and owners have the counts of the service', { skip }, async () => {
  const { page, end } = await openUi(service, '/forecast?report=reasons&from=2026-01&months=1')
  await page.getByRole('button', { name: 'Table' }).click()
  const rows = await rowsOf(page, 'Why deals were lost')
  const lost = await sums('status:eq(Lost),deal_closed_on:between(2026-01-01,2026-01-31)', 'lost_reason')
  assert.equal(rows.length - 1, lost.length)
  for (const { name, count } of lost) assert.ok(rows.some(row => row[0] === name && row[1] === String(count)))
  await page.getByRole('link', { name: 'By owner' }).click()
  const owners = await rowsOf(page, 'By owner')
  for (const { name, count } of await sums('status:eq(Open)', 'sales_owner'))
    assert.ok(
      owners.some(row => row[0] === name && row[1] === String(count)),
      name,
    )
  await end()
})

/** The marks of a chart, bar by bar: each label, and its drawn length. */
const drawn = (page: Page, chart: string, side: 'width' | 'height') =>
  page.getByRole('group', { name: chart, exact: true }).evaluate((element, side) => {
    const marks = [...element.querySelectorAll<SVGAElement>('a[data-mark]')]
    return marks.map(mark => ({
      name: mark.getAttribute('aria-label')!,
      size: mark.querySelector('rect')!.getBBox()[side],
    }))
  }, side)

/** The value of a mark by its label: the best case is drawn as its surplus over the weighted value. */
function valuesOf(names: readonly string[]): number[] {
  const said = names.map(name => Number(/: \$?([\d,.]*\d)/.exec(name)![1]!.replaceAll(',', '')))
  return said.map((value, index) => value - (names[index]!.includes(', best case:') ? said[index - 1]! : 0))
}

const charts = [
  ['forecast', 'Forecast by month', 'height'],
  ['forecast', 'Forecast by category', 'width'],
  ['funnel', 'Funnel', 'width'],
  ['reasons', 'Why deals were won', 'width'],
  ['reasons', 'Why deals were lost', 'width'],
  ['owners', 'By owner', 'width'],
] as const

for (const width of [1280, 390]) {
  test(`a mark is as long as its value, in one scale for each chart, at ${width} pixels`, {
    skip,
  }, async () => {
    const { page, end } = await openUi(service, '/forecast', { size: { width, height: 844 } })
    for (const [report, chart, side] of charts) {
      await page.goto(`${service.url}/forecast?report=${report}`)
      await page.getByRole('group', { name: chart, exact: true }).waitFor()
      const marks = await drawn(page, chart, side)
      const values = valuesOf(marks.map(({ name }) => name))
      const longest = values.indexOf(Math.max(...values))
      const scale = marks[longest]!.size / values[longest]!
      assert.ok(marks.length > 2 && scale > 0, chart)
      for (const [index, { name, size }] of marks.entries())
        assert.ok(Math.abs(size - values[index]! * scale) <= 1, `${chart}, ${name}: ${size} pixels`)
    }
    await end()
  })
}

test('every report is accessible and has no sideways scroll, on a desk and on a phone', {
  skip,
}, async () => {
  const { page, accessible, end } = await openUi(service, '/forecast')
  for (const report of await reportsOf(page)) {
    await page.goto(`${service.url}/forecast?report=${report}`)
    for (const shown of ['Chart', 'Table']) {
      await page.getByRole('button', { name: shown }).click()
      await page.getByRole('heading', { level: 2 }).first().waitFor()
      await page.locator('.waiting').first().waitFor({ state: 'detached' })
      for (const width of widths) {
        await resize(page, width)
        await accessible(`${report} as ${shown} at ${width}`)
        const [inside, outside] = await page.evaluate(() => [document.body.scrollWidth, innerWidth])
        assert.ok(inside! <= outside!, `${report}: ${inside} > ${outside}`)
      }
    }
  }
  await end()
})
