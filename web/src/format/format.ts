/**
 * Numbers, money, dates and times in the reader's notation. Dates and times of the service are shown in the
 * account's time zone; a calendar date has none and never becomes a `Date` of the browser's.
 */

export type Settings = {
  /** such as de-DE */
  readonly locale: string
  /** such as Europe/Berlin */
  readonly timeZone: string
  /** the current time, for "today" and "yesterday" */
  readonly now?: () => Date
}

export type Money = {
  readonly currency?: number
  readonly currency_code?: string | null
  readonly value?: number | null
}

export type Formats = ReturnType<typeof formats>

const dayMs = 86_400_000

/** The formats of a reader. Formatters are cached: making one costs more than using it. */
export function formats({ locale, timeZone, now = () => new Date() }: Settings) {
  const made = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>()
  const number = (options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options)
    if (!made.has(key)) made.set(key, new Intl.NumberFormat(locale, options))
    return made.get(key) as Intl.NumberFormat
  }
  const date = (options: Intl.DateTimeFormatOptions) => {
    const key = `date${JSON.stringify(options)}`
    if (!made.has(key)) made.set(key, new Intl.DateTimeFormat(locale, options))
    return made.get(key) as Intl.DateTimeFormat
  }
  /** YYYY-MM-DD */
  const isoDate = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  const currency = (
    code: string | null | undefined,
    currencyDisplay: 'narrowSymbol' | 'code' = 'narrowSymbol',
  ): Intl.NumberFormatOptions => (code ? { style: 'currency', currency: code, currencyDisplay } : {})
  /** All digits of the amount: those of its currency, or more if it has more. */
  const exact = ({ value }: Money, options: Intl.NumberFormatOptions) => {
    if (value === null || value === undefined) return ''
    const decimals = `${value}`.split('.')[1]?.length ?? 0
    if (decimals === 0) return number({ ...options, maximumFractionDigits: 0 }).format(value)
    const usual = number(options).resolvedOptions().maximumFractionDigits ?? 2
    const digits = Math.max(decimals, usual)
    return number({ ...options, minimumFractionDigits: digits, maximumFractionDigits: digits }).format(value)
  }
  /** Today's date in the account's time zone, as YYYY-MM-DD. */
  const today = () => isoDate.format(now())
  // These are words, among the English ones of the UI.
  const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

  return {
    locale,
    timeZone,
    today,
    /** 1234.5 → 1,234.5 */
    number: (value: number) => number({ maximumFractionDigits: 20 }).format(value),
    /** 1 deal, 1,234 deals */
    counted: (count: number, one: string, many: string) =>
      `${number({}).format(count)} ${count === 1 ? one : many}`,
    /** 1,234, or about 1,234: the total of a long list is an estimate. */
    total: (total: number, isEstimate: boolean) => `${isEstimate ? 'about ' : ''}${number({}).format(total)}`,
    percent: (value: number) => number({ style: 'percent', maximumFractionDigits: 1 }).format(value / 100),
    /** The exact amount with the sign of its currency, which may be that of others, too: $1,234.50 */
    money: (amount: Money) => exact(amount, currency(amount.currency_code)),
    /** The exact amount with the code of its currency: CAD 1,234.50 */
    codedMoney: (amount: Money) => exact(amount, currency(amount.currency_code, 'code')),
    /** A short form of an amount: €134.5M, and €1,863 if it is short already. */
    compactMoney: ({ value, currency_code }: Money) => {
      if (value === null || value === undefined) return ''
      // Without its decimals a small number would be another one, or none.
      if (Math.abs(value) < 100)
        return currency_code
          ? exact({ value }, currency(currency_code))
          : number({ maximumSignificantDigits: 3 }).format(value)
      const isLong = Math.abs(value) >= 1_000_000
      return number({
        ...currency(currency_code),
        maximumFractionDigits: isLong ? 1 : 0,
        ...(isLong ? { notation: 'compact' } : {}),
      }).format(value)
    },
    /** The day of YYYY-MM-DD; without the year if it is less than 300 days from today. */
    date: (text: string) => {
      const isNear = Math.abs(noon(text).getTime() - noon(today()).getTime()) < 300 * dayMs
      const options = { day: 'numeric', month: 'short', timeZone: 'UTC' } as const
      return date(isNear ? options : { ...options, year: 'numeric' }).format(noon(text))
    },
    longDate: (text: string) => date({ dateStyle: 'full', timeZone: 'UTC' }).format(noon(text)),
    month: (text: string) =>
      date({ month: 'short', year: 'numeric', timeZone: 'UTC' }).format(noon(`${text.slice(0, 7)}-01`)),
    /** `month`: 01 to 12 */
    monthName: (month: string) =>
      date({ month: 'long', timeZone: 'UTC', calendar: 'gregory' }).format(noon(`2000-${month}-01`)),
    /** A moment, in the account's time zone. */
    moment: (iso: string) =>
      date({ dateStyle: 'medium', timeStyle: 'short', timeZone }).format(new Date(iso)),
    fullMoment: (iso: string) =>
      date({ dateStyle: 'full', timeStyle: 'long', timeZone }).format(new Date(iso)),
    /** The date of a moment in the account's time zone, as YYYY-MM-DD. */
    dateOf: (iso: string) => isoDate.format(new Date(iso)),
    /** HH:MM in the reader's notation. */
    time: (text: string) =>
      date({ timeStyle: 'short', timeZone: 'UTC' }).format(new Date(`2000-01-01T${text}Z`)),
    /** Relative time: "3 days ago", "in 2 hours". */
    ago: (iso: string) => {
      const seconds = (new Date(iso).getTime() - now().getTime()) / 1000
      const units = [
        ['second', 60],
        ['minute', 60],
        ['hour', 24],
        ['day', 7],
        ['week', 4.345],
        ['month', 12],
      ] as const
      let rest = seconds
      for (const [unit, size] of units) {
        if (Math.abs(rest) < size) return relative.format(Math.round(rest), unit)
        rest /= size
      }
      return relative.format(Math.round(rest), 'year')
    },
    /** Whole days from today to the date; negative in the past. */
    daysUntil: (text: string) => Math.round((noon(text).getTime() - noon(today()).getTime()) / dayMs),
  }
}

/** Noon in UTC of a calendar date. */
function noon(text: string): Date {
  return new Date(`${text.slice(0, 10)}T12:00:00Z`)
}
