/** Moments as wall-clock times of a time zone, and back: the values of `datetime-local` inputs. */

const clocks = new Map<string, Intl.DateTimeFormat>()

function clock(timeZone: string): Intl.DateTimeFormat {
  let found = clocks.get(timeZone)
  if (!found) {
    found = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
    clocks.set(timeZone, found)
  }
  return found
}

/** 2026-03-01T09:30:00Z in Europe/Berlin → 2026-03-01T10:30 */
export function toWall(iso: string, timeZone: string): string {
  const moment = new Date(iso)
  if (Number.isNaN(moment.getTime())) return ''
  const parts = Object.fromEntries(
    clock(timeZone)
      .formatToParts(moment)
      .map(part => [part.type, part.value]),
  )
  return `${parts.year!.padStart(4, '0')}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}`
}

/**
 * 2026-03-01T10:30 in Europe/Berlin → 2026-03-01T09:30:00.000Z. A time that the clock skips is moved by the
 * gap; of one that comes twice it is the first. Null if it is no date and time.
 */
export function fromWall(wall: string, timeZone: string): string | null {
  const asUtc = Date.parse(`${wall}Z`)
  if (Number.isNaN(asUtc)) return null
  const offset = (moment: number) =>
    Date.parse(`${toWall(new Date(moment).toISOString(), timeZone)}Z`) - Math.floor(moment / 60_000) * 60_000
  const day = 86_400_000
  const offsets = [offset(asUtc - day), offset(asUtc + day)]
  for (const one of offsets) if (offset(asUtc - one) === one) return new Date(asUtc - one).toISOString()
  return new Date(asUtc - offsets[0]!).toISOString()
}
