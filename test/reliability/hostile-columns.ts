/**
 * Files of the maximum width, with cells that are slow to parse: long numbers, dates with time zones, ranges,
 * lists, telephones, addresses, blanks; and lists as long. Data only; event-loop.test.ts sends them.
 */

type Cell = (index: number) => string

const cells: readonly Cell[] = [
  index => `${'1'.repeat(55)}.5${index % 7}`,
  index => `${(index % 28) + 1}/${(index % 12) + 1}/2026 10:0${index % 10} PM GMT+01:00`,
  index => `08:00/1${index % 9}:30`,
  index => `a${index}; b${index}; c; "d;e"; ${index}`.repeat(8),
  index => `+49 (30) 12-34-5${index}`,
  index => `Jo${index} <jo${index}@example.com>; x@y.zz, `.repeat(4),
  index => `€ 1.234.567,8${index % 10}`,
  index => `${' '.repeat(150)}${index}${' '.repeat(40)}`,
  index => `[{"a":${index}}]`,
  () => '1 234 567 '.repeat(5),
  index => `${(index % 28) + 1}. Dezember 2026`,
  () => '1.'.repeat(30),
  () => '- '.repeat(90),
  () => `(${'1'.repeat(30)}`,
  () => '0 '.repeat(30),
  () => '_'.repeat(190),
]

const known = [
  ...['Amount EUR', 'Close date', 'Contact e-mail', 'Price USD', 'Tags', 'Phone', 'Owner', 'Shift', 'Name'],
  ...['First name', 'Last name', 'Company', 'Stage', 'Expected Revenue Currency', 'Created at', 'x'],
]

/** Names of columns, by their number. */
const names: { readonly [kind: string]: Cell } = {
  'known names': index => `${known[index % known.length]} ${index}`,
  'the same name': () => 'Name of a column '.repeat(16).slice(0, 255),
  'long names': index => `${index} ${'owner e mail '.repeat(19)}`.slice(0, 255),
  'names like ours': index => `${known[index % known.length]!.replace(/[aeo]/, 'y')}${index % 10}`,
}

const [width, rows] = [1000, 40]

/** A list of people in which a cell has as many ids as it may, beside one name. */
export const longLists = `related_contacts\n${Array.from({ length: 10 }, () => `Jo Li${';7'.repeat(24_900)}`).join('\n')}`

/** Each as CSV, by its kind of column names. */
export function wideFiles(): readonly (readonly [string, string])[] {
  const quoted = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
  const columns = Array.from({ length: width }, (_, index) => index)
  const cellOf = (row: number, column: number) =>
    quoted(cells[(column * 7 + Math.floor(column / cells.length)) % cells.length]!(row * 31 + column))
  const lines = Array.from({ length: rows }, (_, row) => columns.map(column => cellOf(row, column)).join())
  return Object.entries(names).map(([kind, nameOf]) => [
    kind,
    [columns.map(column => quoted(nameOf(column))).join(), ...lines].join('\n'),
  ])
}
