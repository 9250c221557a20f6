/** Writes iCalendar (RFC 5545): events as the text of a calendar. Moments are in UTC. Knows no record. */

/** An event on whole days, or one that begins at a moment; without minutes it has no end. */
export type CalendarTime =
  | { readonly day: string; readonly days: number }
  | { readonly at: string; readonly minutes: number }

export type CalendarEvent = {
  /** the same for as long as the event exists, and no other's */
  readonly uid: string
  /** moment of its last change, in ISO 8601 */
  readonly changed: string
  readonly time: CalendarTime
  readonly summary: string
  /** its kind, in a word; null: it has none */
  readonly category: string | null
  /** true if its person is not free meanwhile */
  readonly isBusy: boolean
  readonly url: string
}

const lineEnd = '\r\n'
/** Octets of a line (RFC 5545 §3.1). */
const lineOctets = 75

/** The lines before the events. `name` is shown by programs; they read anew after an hour. */
export function calendarHead(name: string): string {
  return [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Dealwright//Calendar//EN',
    'CALSCALE:GREGORIAN',
    // NAME and REFRESH-INTERVAL are of RFC 7986; most programs know the older names.
    `NAME:${textOf(name)}`,
    `X-WR-CALNAME:${textOf(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
  ]
    .map(folded)
    .join('')
}

export function eventText(event: CalendarEvent): string {
  const { uid, changed, time, summary, category, isBusy, url } = event
  return [
    'BEGIN:VEVENT',
    `UID:${uid}`,
    `DTSTAMP:${utcOf(changed)}`,
    ...linesOf(time),
    `SUMMARY:${textOf(summary)}`,
    ...(category === null ? [] : [`CATEGORIES:${textOf(category)}`]),
    'STATUS:CONFIRMED',
    `TRANSP:${isBusy ? 'OPAQUE' : 'TRANSPARENT'}`,
    `URL:${url}`,
    'END:VEVENT',
  ]
    .map(folded)
    .join('')
}

/** A calendar has at least one component (RFC 5545 §3.6): one without events has a time zone. */
export function calendarEnd(isEmpty: boolean): string {
  const zone = [
    ...['BEGIN:VTIMEZONE', 'TZID:UTC', 'BEGIN:STANDARD', 'DTSTART:19700101T000000'],
    ...['TZOFFSETFROM:+0000', 'TZOFFSETTO:+0000', 'END:STANDARD', 'END:VTIMEZONE'],
  ]
  return [...(isEmpty ? zone : []), 'END:VCALENDAR', ''].join(lineEnd)
}

function linesOf(time: CalendarTime): string[] {
  if ('day' in time) {
    const end = later(`${time.day}T00:00:00.000Z`, time.days * 1440)
    return [`DTSTART;VALUE=DATE:${digitsOf(time.day)}`, `DTEND;VALUE=DATE:${digitsOf(end.slice(0, 10))}`]
  }
  const { at, minutes } = time
  // An end must be after the beginning (RFC 5545 §3.8.2.2).
  return [`DTSTART:${utcOf(at)}`, ...(minutes > 0 ? [`DTEND:${utcOf(later(at, minutes))}`] : [])]
}

function later(moment: string, minutes: number): string {
  return new Date(Date.parse(moment) + minutes * 60_000).toISOString()
}

/** 2026-03-29T01:30:00.000Z → 20260329T013000Z */
function utcOf(moment: string): string {
  return `${digitsOf(moment.slice(0, 19))}Z`
}

function digitsOf(date: string): string {
  return date.replaceAll(/[-:]/g, '')
}

/** A value of the type TEXT (RFC 5545 §3.3.11), without control characters. */
function textOf(text: string): string {
  return text
    .replaceAll(/[\\;,]/g, sign => `\\${sign}`)
    .replaceAll(/\r\n?|\n/g, '\\n')
    .replaceAll(/\p{Cc}/gu, ' ')
}

/** A line with its end; a long one is folded, and no character is cut. */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= lineOctets) return line + lineEnd
  const lines: string[] = []
  let [begun, octets] = ['', 0]
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (octets + size > lineOctets) {
      lines.push(begun)
      ;[begun, octets] = [' ', 1]
    }
    begun += character
    octets += size
  }
  return [...lines, begun, ''].join(lineEnd)
}
