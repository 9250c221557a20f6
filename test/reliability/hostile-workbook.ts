/** Reads a workbook in a process of its own, and prints its refusal: `node hostile-workbook.ts FILE`. */
import { createReadStream } from 'node:fs'
import { readTable } from '../../src/files/read.ts'

const [, , file] = process.argv
const refusal = await readTable(createReadStream(file!), { format: 'xlsx' }).then(
  ({ source }) => `The sheet ${source.sheet} was read.`,
  (error: Error) => error.message,
)
console.log(refusal)
