/** ISO 8601 by table: real dates, times and moments, and their normal forms (D16, D42). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  calendarDate,
  dateIn,
  instantOfEpoch,
  isoDate,
  isoInstant,
  isoTime,
} from '../../src/fields/iso8601.ts'

test('leap years: every fourth, but of the hundreds only every fourth', () => {
  for (const year of ['0004', '0400', '1600', '1996', '2000', '2028', '2400', '9996'])
    assert.equal(isoDate(`${year}-02-29`), `${year}-02-29`)
  for (const year of ['0001', '0100', '1700', '1800', '1900', '2025', '2100', '2200', '9999'])
    assert.equal(isoDate(`${year}-02-29`), null, year)
})

test('each month has its own last day', () => {
  const last = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  last.forEach((day, index) => {
    const month = `2027-${String(index + 1).padStart(2, '0')}`
    assert.equal(isoDate(`${month}-${day}`), `${month}-${day}`)
    assert.equal(isoDate(`${month}-${day + 1}`), null, month)
  })
})

test('other ways to write a date are refused', () => {
  for (const text of [
    '',
    '2026',
    '2026-03',
    '20260331',
    '2026-3-31',
    '2026-W14-2',
    '2026-090',
    '+2026-03-31',
    '-0001-01-01',
    '12026-01-01',
    '2026/03/31',
    '31-03-2026',
    '2026-03-31 ',
    ' 2026-03-31',
    '2026-03-31\n',
    '2026-03-00',
    '2026-00-01',
    '٢٠٢٦-٠٣-٣١',
    '2026‐03‐31',
  ]) {
    assert.equal(isoDate(text), null, JSON.stringify(text))
    assert.equal(calendarDate(text), null, JSON.stringify(text))
  }
})

test('a calendar date is the day as written, whatever its offset', () => {
  for (const [text, date] of [
    ['2026-12-31', '2026-12-31'],
    ['2026-12-31T23:59:59.999-11:00', '2026-12-31'],
    ['2027-01-01T00:00:00+14:00', '2027-01-01'],
    ['2028-02-29T00:00Z', '2028-02-29'],
    ['2026-12-31T10:00', '2026-12-31'],
    ['2027-02-29T00:00Z', null],
    ['2026-12-31T25:00Z', null],
    ['2026-12-31T', null],
    ['2026-12-31Z', null],
    ['2026-12-31+02:00', null],
  ] as const) {
    assert.equal(calendarDate(text), date, text)
  }
})

test('times of day', () => {
  for (const [text, time] of [
    ['00:00', '00:00'],
    ['23:59', '23:59'],
    ['23:59:59', '23:59'],
    ['09:30:00.000', '09:30'],
    ['09:30:00,5', '09:30'],
    ['09:30:00.123456789', '09:30'],
    ['24:00', null],
    ['23:60', null],
    ['23:59:60', null],
    ['9:30', null],
    ['09', null],
    ['0930', null],
    ['09:30Z', null],
    ['09:30+02:00', null],
    ['09:30:00.', null],
    ['09:30:00.1234567890', null],
    ['09:30 AM', null],
    ['T09:30', '09:30'],
    ['t09:30:00', '09:30'],
    ['TT09:30', null],
    [' 09:30', null],
    ['-09:30', null],
    ['', null],
  ] as const) {
    assert.equal(isoTime(text), time, text)
  }
})

test('moments become UTC with milliseconds', () => {
  for (const [text, instant] of [
    ['2026-03-31T09:30Z', '2026-03-31T09:30:00.000Z'],
    ['2026-03-31t09:30z', '2026-03-31T09:30:00.000Z'],
    ['2026-03-31 09:30:00Z', '2026-03-31T09:30:00.000Z'],
    ['2026-03-31T09:30:00,5Z', '2026-03-31T09:30:00.500Z'],
    ['2026-03-31T09:30:00.0009Z', '2026-03-31T09:30:00.000Z'],
    ['2026-03-31T09:30:00.999999999Z', '2026-03-31T09:30:00.999Z'],
    ['2026-03-31T09:30+05:45', '2026-03-31T03:45:00.000Z'],
    ['2026-03-31T09:30-0930', '2026-03-31T19:00:00.000Z'],
    ['2026-03-31T09:30-00:00', '2026-03-31T09:30:00.000Z'],
    // over the ends of a day, a month, a leap February and a year
    ['2028-03-01T00:30+01:00', '2028-02-29T23:30:00.000Z'],
    ['2027-03-01T00:30+01:00', '2027-02-28T23:30:00.000Z'],
    ['2026-12-31T23:30-01:00', '2027-01-01T00:30:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
    // years that Date's own constructor takes for 19xx
    ['0001-01-01T00:00Z', '0001-01-01T00:00:00.000Z'],
    ['0070-06-01T12:00Z', '0070-06-01T12:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    // the limits of the range
    ['0001-01-01T00:00+00:01', null],
    ['9999-12-31T23:59-00:01', null],
    ['2026-03-31T09:30:60Z', null],
    ['2026-03-31T24:00Z', null],
    ['2026-03-31T09Z', null],
    ['2026-03-31T09:30 +02:00', null],
    ['2026-03-31T09:30+2:00', null],
    ['2026-03-31T09:30+02', '2026-03-31T07:30:00.000Z'],
    ['2026-03-31T09:30-02', '2026-03-31T11:30:00.000Z'],
    ['2026-03-31T09:30+020', null],
    ['2026-03-31T09:30+15', null],
    ['2026-03-31T09:30+02:60', null],
    ['2026-03-31T09:30+15:00', null],
    ['2026-03-31T09:30ZZ', null],
    ['2026-03-31T09:30[Europe/Paris]', null],
    ['2026-03-31T09:30 CET', null],
    ['Tue, 31 Mar 2026 09:30:00 GMT', null],
    ['1767225600000', null],
    ['', null],
  ] as const) {
    assert.equal(isoInstant(text), instant, text)
  }
})

test('where an offset is asked for, a moment without one is refused', () => {
  for (const text of ['2026-03-31', '2026-03-31T09:30', '2026-03-31T09:30:00.000']) {
    assert.equal(isoInstant(text, true), null, text)
    assert.notEqual(isoInstant(text), null, text)
  }
  assert.equal(isoInstant('2026-03-31T09:30+00:00', true), '2026-03-31T09:30:00.000Z')
})

test('epochs: the years 1 to 9999, else null', () => {
  for (const [epoch, instant] of [
    [0, '1970-01-01T00:00:00.000Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [-62_135_596_800_000, '0001-01-01T00:00:00.000Z'],
    [-62_135_596_800_001, null],
    [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
    [253_402_300_800_000, null],
    [8_640_000_000_000_001, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
  ] as const) {
    assert.equal(instantOfEpoch(epoch), instant, String(epoch))
  }
})

test('the date of a moment in UTC is that of its ISO form, in every year', () => {
  const from = Date.parse('0001-01-01T00:00:00Z')
  const to = Date.parse('9999-12-31T23:59:59.999Z')
  const moment = fc.oneof(
    fc.integer({ min: from, max: to }),
    fc.integer({ min: from, max: Date.parse('1000-01-01') }),
  )
  const isIso = (epoch: number) =>
    assert.equal(dateIn('UTC', new Date(epoch)), instantOfEpoch(epoch)!.slice(0, 10))
  fc.assert(fc.property(moment, isIso), { examples: [[from], [to], [Date.parse('0099-12-31T23:59:59Z')]] })
})

test('the date of a moment follows the time zone, also as it was before there were time zones', () => {
  for (const [zone, text, date] of [
    // Local mean time: New York was 4:56:02 behind Greenwich, Kolkata 5:53:28 ahead.
    ['America/New_York', '0500-03-01T04:56:01Z', '0500-02-28'],
    ['America/New_York', '0500-03-01T04:56:02Z', '0500-03-01'],
    ['Asia/Kolkata', '0999-12-31T18:06:31Z', '0999-12-31'],
    ['Asia/Kolkata', '0999-12-31T18:06:32Z', '1000-01-01'],
    ['America/New_York', '2026-03-08T04:59:59Z', '2026-03-07'],
    ['America/New_York', '2026-03-08T05:00:00Z', '2026-03-08'],
    ['Pacific/Kiritimati', '9999-12-31T10:00:00Z', null],
    ['America/New_York', '0001-01-01T00:00:00Z', null],
  ] as const) {
    assert.equal(dateIn(zone, new Date(text)), date, `${zone} ${text}`)
  }
})
