/** Minimal workbooks for tests: a ZIP archive of a few parts. */
import { crc32, deflateRawSync } from 'node:zlib'

/** A ZIP archive of files, compressed. */
export function zip(files: { readonly [name: string]: string | Uint8Array }): Buffer {
  const [parts, directory]: [Buffer[], Buffer[]] = [[], []]
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content)
    const packed = deflateRawSync(bytes)
    const fixed = Buffer.alloc(26)
    for (const [at, value] of [
      [0, 20],
      [2, 0x800],
      [4, 8],
      [22, Buffer.byteLength(name)],
    ] as const)
      fixed.writeUInt16LE(value, at)
    for (const [at, value] of [
      [10, crc32(bytes)],
      [14, packed.length],
      [18, bytes.length],
    ] as const)
      fixed.writeUInt32LE(value, at)
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fixed, Buffer.from(name), packed])
    const more = Buffer.alloc(14)
    more.writeUInt32LE(offset, 10)
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), fixed, more, Buffer.from(name)]))
    parts.push(local)
    offset += local.length
  }
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(parts.length, 8)
  end.writeUInt16LE(parts.length, 10)
  const list = Buffer.concat(directory)
  end.writeUInt32LE(list.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, list, end])
}

const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'

export type Parts = {
  readonly rows: string
  readonly strings?: string
  readonly styles?: string
  readonly name?: string
  readonly properties?: string
}

/** The files of a workbook whose first sheet has the XML of rows. */
export function workbookFiles({ rows, strings, styles, name = 'Sheet1', properties = '' }: Parts) {
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`
  return {
    '_rels/.rels': `<Relationships>${relation('rId1', 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns:r="${office}">${properties}<sheets><sheet name="${name}" sheetId="1" r:id="rId5"/><sheet name="Other" sheetId="2" r:id="rId6"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${relation('rId6', 'worksheet', 'worksheets/sheet1.xml')}${relation('rId5', 'worksheet', '/xl/worksheets/sheet2.xml')}${relation('rId7', 'sharedStrings', 'sharedStrings.xml')}${relation('rId8', 'styles', 'styles.xml')}</Relationships>`,
    'xl/worksheets/sheet1.xml': '<worksheet><sheetData/></worksheet>',
    'xl/worksheets/sheet2.xml': `<?xml version="1.0" encoding="UTF-8"?>\n<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...(strings === undefined ? {} : { 'xl/sharedStrings.xml': `<sst>${strings}</sst>` }),
    ...(styles === undefined ? {} : { 'xl/styles.xml': `<styleSheet>${styles}</styleSheet>` }),
  }
}
