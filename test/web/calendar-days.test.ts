/** The pure parts of the calendar: days, times on the nights on which clocks change, clashes and lanes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  clockChange,
  dayOf,
  firstWeekday,
  momentOf,
  monthOf,
  shifted,
  wallOf,
  weekOf,
} from '../../web/src/calendar/days.ts'
import { changeTo, entriesByDay, placed, slotAfter, slotWith } from '../../web/src/calendar/entries.ts'

const [berlin, auckland] = ['Europe/Berlin', 'Pacific/Auckland']
let id = 0
const activity = (due_at: string, more: { [field: string]: unknown } = {}) => ({
  ...{ id: ++id, subject: `No. ${id}`, kind: 2, owner: 1, done_at: null, duration: null, due_at },
  ...more,
})
type Activity = ReturnType<typeof activity>
const timesOn = (day: string, zone: string, ...all: Activity[]) =>
  entriesByDay(all, [day], zone)
    .get(day)!
    .map(({ time }) => time && [time.from / 60, time.to / 60])

test('weeks begin as the locale has it, and a month has six of them', () => {
  assert.deepEqual([firstWeekday('de-DE'), firstWeekday('en-US')], [1, 7])
  assert.equal(weekOf('2026-03-01', 1)[0], '2026-02-23')
  assert.equal(weekOf('2026-03-01', 7)[0], '2026-03-01')
  assert.equal(weekOf('2026-03-02', 1)[0], '2026-03-02')
  const month = monthOf('2026-02-10', 1)
  assert.deepEqual([month[0], month.at(-1), month.length], ['2026-01-26', '2026-03-08', 42])
})

test('a month later is the same day, or the last one', () => {
  assert.equal(shifted('month', '2026-01-31', 1), '2026-02-28')
  assert.equal(shifted('month', '2026-03-31', -1), '2026-02-28')
  assert.equal(shifted('month', '2026-12-15', 1), '2027-01-15')
  assert.equal(shifted('week', '2026-12-30', 1), '2027-01-06')
})

test('an address without a real day shows today', () => {
  const today = '2026-06-15'
  for (const text of [undefined, '', 'x', '2026-13-01', '0000-01-01', '9999-12-31'])
    assert.equal(dayOf(text, today), today, text)
  assert.equal(dayOf('2026-02-28', today), '2026-02-28')
})

test('the clocks of Berlin and of Auckland change', () => {
  assert.equal(clockChange('2026-03-29', berlin), 'Clocks go forward')
  assert.equal(clockChange('2026-10-25', berlin), 'Clocks go back')
  assert.equal(clockChange('2026-04-05', auckland), 'Clocks go back')
  assert.equal(clockChange('2026-09-27', auckland), 'Clocks go forward')
  assert.equal(clockChange('2026-06-15', berlin), null)
})

test('what goes on while clocks change ends when the clock says', () => {
  const spring = activity('2026-03-29T00:30:00Z', { duration: 60 })
  assert.deepEqual(timesOn('2026-03-29', berlin, spring), [[1.5, 3.5]])
  const autumn = activity('2026-10-25T00:45:00Z', { duration: 60 })
  // From 02:45 to 02:45 an hour later: it has no length on the clock.
  assert.deepEqual(timesOn('2026-10-25', berlin, autumn), [[2.75, 2.75]])
  const second = activity('2026-10-25T01:30:00Z', { duration: 60 })
  assert.deepEqual(timesOn('2026-10-25', berlin, second), [[2.5, 3.5]])
  // A time that is skipped is an hour later, as the clock is.
  const moved = changeTo(spring, { day: '2026-03-29', minutes: 150 }, berlin)
  assert.equal(wallOf(moved.due_at, berlin).minutes, 210)
  assert.equal(momentOf('2026-03-29', 1440, berlin), '2026-03-29T22:00:00.000Z')
})

test('a day later is the same time of day, over the change and in another zone', () => {
  const before = activity('2026-03-28T08:00:00Z', { duration: 60 })
  const later = changeTo(before, slotAfter(before, 1, 0, berlin), berlin)
  assert.deepEqual(later, { due_at: '2026-03-29T07:00:00.000Z' })
  const there = changeTo(before, slotAfter(before, 1, 0, auckland), auckland)
  assert.deepEqual(there, { due_at: '2026-03-29T08:00:00.000Z' })
  const early = activity('2026-06-14T22:10:00Z', { duration: 30 })
  assert.deepEqual(slotAfter(early, 0, -15, berlin), { day: '2026-06-14', minutes: 1435 })
})

test('an evening in Berlin is a morning in Auckland', () => {
  const evening = activity('2026-06-15T18:00:00Z', { duration: 120 })
  assert.deepEqual(timesOn('2026-06-15', berlin, evening), [[20, 22]])
  assert.deepEqual(timesOn('2026-06-16', auckland, evening), [[6, 8]])
  assert.deepEqual(timesOn('2026-06-15', auckland, evening), [])
})

test('whole days begin at midnight of whoever looks, and last for days', () => {
  const fair = activity('2026-06-14T22:00:00Z', { duration: 2880 })
  const days = weekOf('2026-06-15', 1)
  const found = entriesByDay([fair], days, berlin)
  assert.deepEqual(
    days.map(day => found.get(day)!.length),
    [1, 1, 0, 0, 0, 0, 0],
  )
  assert.deepEqual(timesOn('2026-06-15', berlin, fair), [null])
  assert.deepEqual(timesOn('2026-06-15', auckland, fair), [[10, 24]])
  const night = activity('2026-06-15T20:00:00Z', { duration: 240 })
  assert.deepEqual(timesOn('2026-06-15', berlin, night), [[22, 24]])
  assert.deepEqual(timesOn('2026-06-16', berlin, night), [[0, 2]])
})

test('a meeting that is moved to no time loses its length, and days lose theirs at a time', () => {
  const meeting = activity('2026-06-15T08:00:00Z', { duration: 45 })
  const whole = changeTo(meeting, { day: '2026-06-16', minutes: null }, berlin)
  assert.deepEqual(whole, { due_at: '2026-06-15T22:00:00.000Z', duration: null })
  const fair = activity('2026-06-14T22:00:00Z', { duration: 2880 })
  const timed = changeTo(fair, { day: '2026-06-16', minutes: 600 }, berlin)
  assert.deepEqual(timed, { due_at: '2026-06-16T08:00:00.000Z', duration: null })
  const shifted = changeTo(fair, { day: '2026-06-16', minutes: null }, berlin)
  assert.deepEqual(shifted, { due_at: '2026-06-15T22:00:00.000Z' })
})

test('meetings of one person clash, side by side; others don’t', () => {
  const at = (hour: number, more: object = {}) =>
    activity(`2026-06-15T${String(hour).padStart(2, '0')}:00:00Z`, { duration: 90, ...more })
  const [one, two] = [at(8, { subject: 'One' }), at(9, { subject: 'Two' })]
  const others = [at(9, { owner: 2 }), at(8, { kind: 1 }), at(9, { done_at: '2026-06-15T12:00:00Z' })]
  const next = activity('2026-06-15T10:30:00Z', { duration: 30 })
  const entries = entriesByDay([one, two, ...others, next], ['2026-06-15'], berlin).get('2026-06-15')!
  const clashes = entries.filter(entry => entry.clashes.length > 0)
  assert.deepEqual(
    clashes.map(({ title, clashes }) => [title, clashes]),
    [
      ['One', ['Two']],
      ['Two', ['One']],
    ],
  )
  const lanes = placed(entries)
  assert.equal(lanes.length, entries.length)
  for (const [index, here] of lanes.entries())
    for (const there of lanes.slice(index + 1)) {
      const overlap = here.time.from < there.time.to && there.time.from < here.time.to
      assert.ok(!overlap || here.lane !== there.lane, `${here.title} and ${there.title}`)
    }
})

test('a later day of an activity that is put elsewhere brings its beginning along', () => {
  const [first, second] = ['2026-06-15', '2026-06-16']
  // From 10:00 to 12:00 a day later.
  const long = activity('2026-06-15T08:00:00Z', { duration: 1560 })
  const parts = entriesByDay([long], [first, second], berlin)
  const [begin] = parts.get(first)!
  const [later] = parts.get(second)!
  const put = (day: string, minutes: number | null) => slotWith(later!, { day, minutes }, berlin)
  assert.deepEqual(put('2026-06-18', 0), { day: '2026-06-17', minutes: 600 })
  assert.deepEqual(put('2026-06-18', 90), { day: '2026-06-17', minutes: 690 })
  assert.deepEqual(put('2026-06-18', 900), { day: '2026-06-18', minutes: 60 })
  assert.deepEqual(put('2026-06-18', null), { day: '2026-06-17', minutes: null })
  const to = { day: '2026-06-20', minutes: 45 }
  assert.deepEqual(slotWith(begin!, to, berlin), to)
  // Whole days.
  const days = activity('2026-06-14T22:00:00Z', { duration: 2880 })
  const [last] = entriesByDay([days], [second], berlin).get(second)!
  assert.deepEqual(slotWith(last!, { day: '2026-06-20', minutes: null }, berlin), {
    day: '2026-06-19',
    minutes: null,
  })
  assert.deepEqual(slotWith(last!, to, berlin), { day: '2026-06-19', minutes: 45 })
})
