/**
 * XLSX (Office Open XML, ECMA-376): a sheet of a workbook, as a stream. No reader on npm does that within
 * bounds: exceljs keeps all shared strings and inflates its input without limit, and others read whole
 * sheets. So this uses node:zlib and a SAX parser (saxes). Formulas yield their saved values.
 */
import type { Share } from '../waiting/quota.ts'
import type { Row } from './read.ts'
import type { Batches } from './read-csv.ts'
import { headRows, rowsAbove, unnamed } from './read-header.ts'
import { cellMax, unreadable, unreadableRow } from './read-limits.ts'
import { builtInFormat, formatOf, type NumberFormat } from './read-number-formats.ts'
import { sheetRows, unescaped } from './read-sheet.ts'
import { parseAll } from './read-xml.ts'
import { Archive } from './read-zip.ts'
import { tooManyTexts, WorkbookMemory } from './workbook-memory.ts'

const [stylesMax, sheetsMax, relationsMax] = [100_000, 1000, 10_000]

/** The sheet and the format of moments of exports before their format said that they are in UTC (D81). */
const [formerSheet, formerMoment] = ['Records', 'yyyy\\-mm\\-dd\\ hh:mm:ss']

export type Sheet = {
  readonly name: string
  readonly header: readonly string[]
  /** the line of the names; 0: none */
  readonly line: number
  readonly rows: Batches
}

/**
 * Throws a Refusal if the file is no workbook. Iterate over all rows, or call `return`. `told`: the name of
 * the sheet, default: the first visible one; and the line of the names. `share` as of `Archive.of`.
 */
export async function readXlsx(
  bytes: AsyncIterable<Uint8Array>,
  told: { readonly sheet?: string; readonly header?: number },
  share: Share | null,
): Promise<Sheet> {
  const archive = await Archive.of(bytes, share)
  const memory = new WorkbookMemory()
  try {
    const workbook = await workbookOf(archive, memory, told.sheet)
    const [strings, styles] = [
      await stringsOf(archive, memory, workbook.strings),
      await stylesOf(archive, memory, workbook.styles, workbook.name === formerSheet),
    ]
    const { is1904, name, sheet } = workbook
    const batches = sheetRows(archive.content(sheet), { strings, styles, is1904 })
    const first = await firstRows(batches)
    const above = rowsAbove(first.slice(0, headRows), told.header)
    const isNamed = above >= 0 || first.length === 0
    const header = isNamed ? headerOf(first[above]) : unnamed(first)
    const rows = rowsOf(first.slice(above + 1), batches, header.length, archive)
    return { name, header, line: first[above]?.line ?? 0, rows }
  } catch (error) {
    await archive.close()
    throw error
  }
}

/** The rows to search for the header, and the rest of their batch. */
async function firstRows(batches: Batches): Promise<Row[]> {
  const rows: Row[] = []
  while (rows.length < headRows) {
    const { done, value } = await batches.next()
    if (done) break
    rows.push(...value)
  }
  return rows
}

function headerOf(row: Row | undefined): readonly string[] {
  if (!row)
    throw unreadable(null, 'The sheet has no rows.', 'Its first row must have the names of the columns.')
  if (row.problem !== undefined)
    throw unreadableRow(row.line, row.problem, 'The first row must name the columns.')
  return row.cells.map(cell => (typeof cell === 'string' ? cell : JSON.stringify(cell)))
}

async function* rowsOf(first: Row[], others: Batches, width: number, archive: Archive): Batches {
  try {
    yield first.map(row => limited(row, width))
    for await (const rows of others) yield rows.map(row => limited(row, width))
  } finally {
    await archive.close()
  }
}

/** Limits a row to the number of columns. A row with more cells keeps all, so it can be sent again. */
function limited(row: Row, width: number): Row {
  const { line, cells } = row
  if (row.problem !== undefined || cells.length <= width) return row
  const problem = `Line ${line}: the row has ${cells.length} cells, but there are ${width} columns. Name them all.`
  return { line, cells, problem }
}

type Workbook = { name: string; sheet: string; strings: string; styles: string; is1904: boolean }

/** `told`: the name of the sheet. */
async function workbookOf(
  archive: Archive,
  memory: WorkbookMemory,
  sheetName: string | undefined,
): Promise<Workbook> {
  const [main] = await relationsOf(archive, memory, '_rels/.rels', '', '/officeDocument')
  const path = main?.target ?? 'xl/workbook.xml'
  if (!archive.has(path)) throw unreadable(null, 'The file is no workbook.', 'Save it as XLSX, or as CSV.')
  const folder = path.slice(0, path.lastIndexOf('/') + 1)
  const sheets: { name: string; id: string; isHidden: boolean }[] = []
  let is1904 = false
  await parseAll(archive.content(path), {
    open: (tag, attributes) => {
      if (tag === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes.date1904 ?? '')
      if (tag !== 'sheet' || sheets.length >= sheetsMax) return
      const id = Object.entries(attributes).find(([name]) => /(?:^|:)id$/.test(name))?.[1]
      const isHidden = /hidden/i.test(attributes.state ?? '')
      sheets.push({ name: memory.name(attributes.name ?? ''), id: memory.name(id ?? ''), isHidden })
    },
  })
  const own = `${folder}_rels/${path.slice(folder.length)}.rels`
  const relations = await relationsOf(archive, memory, own, folder, '')
  const chosen = sheets.find(({ name, isHidden }) =>
    sheetName === undefined ? !isHidden : name === sheetName,
  )
  if (sheetName !== undefined && !chosen) {
    const known = sheets.slice(0, 20).map(({ name }) => JSON.stringify(name.slice(0, 100)))
    const what = `The workbook has no sheet ${JSON.stringify(sheetName.slice(0, 100))}.`
    throw unreadable(null, what, `There are: ${known.join(', ')}.`)
  }
  const sheet = relations.find(({ id }) => id === chosen?.id)?.target ?? `${folder}worksheets/sheet1.xml`
  if (!archive.has(sheet)) throw unreadable(null, 'The workbook has no sheet.', 'Save it as XLSX, or as CSV.')
  const part = (type: string) => relations.find(one => one.type.endsWith(type))?.target ?? ''
  return { name: chosen?.name ?? '', sheet, strings: part('/sharedStrings'), styles: part('/styles'), is1904 }
}

type Relation = { readonly id: string; readonly type: string; readonly target: string }

async function relationsOf(
  archive: Archive,
  memory: WorkbookMemory,
  path: string,
  folder: string,
  ending: string,
): Promise<Relation[]> {
  const relations: Relation[] = []
  await parseAll(archive.content(path), {
    open: (tag, { Id: id = '', Type: type = '', Target: target = '' }) => {
      if (tag !== 'Relationship' || !type.endsWith(ending) || relations.length >= relationsMax) return
      const whole = memory.name(target.startsWith('/') ? target.slice(1) : folder + target)
      relations.push({ id: memory.name(id), type: memory.name(type), target: resolved(whole) })
    },
  })
  return relations
}

/** Without `../imports/` and `../` */
function resolved(path: string): string {
  const steps: string[] = []
  for (const step of path.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '.') steps.push(step)
  }
  return steps.join('/')
}

/** The shared strings. A rich text has several pieces; its phonetic text is left out. */
async function stringsOf(archive: Archive, memory: WorkbookMemory, path: string): Promise<readonly string[]> {
  const strings: string[] = []
  let [text, isText, isSpoken] = ['', false, false]
  await parseAll(archive.content(path), {
    open: tag => {
      if (tag === 'si') text = ''
      else if (tag === 'rPh') isSpoken = true
      else if (tag === 't') isText = !isSpoken
    },
    text: piece => {
      if (!isText) return
      text += piece
      if (text.length > cellMax) throw tooManyTexts()
    },
    close: tag => {
      if (tag === 't') isText = false
      else if (tag === 'rPh') isSpoken = false
      else if (tag === 'si') strings.push(memory.text(unescaped(text)))
    },
  })
  return strings
}

/** The number formats of cells, by style. */
async function stylesOf(
  archive: Archive,
  memory: WorkbookMemory,
  path: string,
  isFormer: boolean,
): Promise<readonly NumberFormat[]> {
  const meaningOf = (code: string) => (isFormer && code === formerMoment ? 'utc' : formatOf(code))
  const own = new Map<number, NumberFormat>()
  const styles: NumberFormat[] = []
  let isCell = false
  await parseAll(archive.content(path), {
    open: (tag, attributes) => {
      const id = Number(attributes.numFmtId ?? 0)
      if (tag === 'numFmt') own.set(id, meaningOf(memory.format(attributes.formatCode ?? '')))
      else if (tag === 'cellXfs') isCell = true
      else if (tag === 'xf' && isCell && styles.length < stylesMax)
        styles.push(own.get(id) ?? builtInFormat(id))
    },
    close: tag => {
      if (tag === 'cellXfs') isCell = false
    },
  })
  return styles
}
