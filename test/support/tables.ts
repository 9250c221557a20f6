/** Independent readers of exported files, for tests: CSV (RFC 4180), and the sheet of a workbook. */
import { crc32, inflateRawSync } from 'node:zlib'

/** The lines of a CSV, each with its cells; escaped formulas stay escaped. */
export function cellsOfCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy
  for (;;) {
    const at = cell.lastIndex
    const found = cell.exec(text)
    if (!found) throw new Error(`no cell at ${at}: ${text.slice(at, at + 80)}`)
    const [, quoted, plain, end] = found
    rows.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'))
    if (end === '') throw new Error('the last line has no end')
    if (end === '\r\n') {
      if (cell.lastIndex === text.length) return rows
      rows.push([])
    }
  }
}

/** The files of a ZIP archive, with their sizes and checksums checked. */
export function filesOfZip(bytes: Buffer): Map<string, string> {
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]))
  const files = new Map<string, string>()
  let at = bytes.readUInt32LE(end + 16)
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [crc, packed, size] = [16, 20, 24].map(place => bytes.readUInt32LE(at + place)) as [
      number,
      number,
      number,
    ]
    const name = bytes.toString('utf8', at + 46, at + 46 + bytes.readUInt16LE(at + 28))
    const head = bytes.readUInt32LE(at + 42)
    const from = head + 30 + bytes.readUInt16LE(head + 26) + bytes.readUInt16LE(head + 28)
    const content = inflateRawSync(bytes.subarray(from, from + packed))
    if (content.length !== size || crc32(content) !== crc) throw new Error(`${name} is damaged`)
    files.set(name, content.toString('utf8'))
    at += 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
  return files
}

/** A cell of a workbook: a text, a number, or a day or moment as a number with a style. */
export type SheetCell = { readonly text: string } | { readonly number: number; readonly style: number } | null

/** The rows of the sheet, each with as many cells as the first. */
export function cellsOfWorkbook(bytes: Buffer): SheetCell[][] {
  const xml = filesOfZip(bytes).get('xl/worksheets/sheet1.xml')!
  let width = 0
  return [...xml.matchAll(/<row r="(\d+)">(.*?)<\/row>/gs)].map(([, number, inside], index) => {
    if (Number(number) !== index + 1) throw new Error(`row ${number} is the ${index + 1}th`)
    const cells: SheetCell[] = Array.from({ length: width }, () => null)
    for (const [, letters, row, rest, content] of inside!.matchAll(
      /<c r="([A-Z]+)(\d+)"(.*?)>(.*?)<\/c>/gs,
    )) {
      if (row !== number) throw new Error(`a cell of row ${row} in row ${number}`)
      const place = [...letters!].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
      const style = Number(/ s="(\d)"/.exec(rest!)?.[1] ?? 0)
      const text = /<t xml:space="preserve">(.*)<\/t>/s.exec(content!)?.[1]
      cells[place] =
        text === undefined
          ? { number: Number(/<v>(.*)<\/v>/.exec(content!)![1]), style }
          : { text: unescaped(text) }
    }
    width ||= cells.length
    return cells
  })
}

function unescaped(xml: string): string {
  return xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/_x([0-9a-fA-F]{4})_/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
}
