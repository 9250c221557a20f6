/** JSON lines: one object a line. The columns are the members' names, in the order of their first use. */
import {
  DuplicateMemberError,
  isDeeper,
  isObject,
  type Json,
  JsonLimitError,
  type JsonObject,
  parseExactly,
  parseJson,
} from '../json.ts'
import type { Cell, Row } from './read.ts'
import { type Batches, encodingRefusal } from './read-csv.ts'
import { columnNameMax, columnsMax, placeText, recordMax } from './read-limits.ts'
import { InvalidText, type Text } from './read-text.ts'

const levelsMax = 20
/** Maximum of members and items of a row. */
const itemsMax = 32_768
const shownMax = 1000

/** The rows; `columns` grows with them. */
export async function* readJsonLines({ chunks }: Text, columns: string[]): Batches {
  const places = new Map<string, number>()
  let [line, rest, isSkipping] = [1, '', false]
  try {
    for (;;) {
      const { done, value } = await chunks.next()
      const text = rest + (value ?? '')
      const rows: Row[] = []
      let from = 0
      for (let end = text.indexOf('\n', rest.length); end >= 0; end = text.indexOf('\n', from)) {
        const row = isSkipping ? null : rowOf(text.slice(from, end), line, places, columns)
        ;[from, line, isSkipping] = [end + 1, line + 1, false]
        if (row) rows.push(row)
      }
      rest = isSkipping ? '' : text.slice(from)
      if (rest.length > recordMax) {
        rows.push(refused(line, rest, `the line has more than ${recordMax} characters. Shorten its texts.`))
        ;[rest, isSkipping] = ['', true]
      }
      const last = done && rest ? rowOf(rest, line, places, columns) : null
      if (last) rows.push(last)
      if (rows.length) yield rows
      if (done) return
    }
  } catch (error) {
    throw error instanceof InvalidText ? encodingRefusal(error, line) : error
  } finally {
    await chunks.return(undefined)
  }
}

function rowOf(text: string, line: number, places: Map<string, number>, columns: string[]): Row | null {
  if (text.length > recordMax)
    return refused(line, text, `the line has more than ${recordMax} characters. Shorten its texts.`)
  if (text.trim() === '' || text.trim() === '\x1a') return null
  let object: Json
  try {
    object = parsed(text)
  } catch (error) {
    // Very many brackets overflow the parser's stack. The quoted part of the error may end in half a pair.
    if (error instanceof JsonLimitError) {
      const hint = error instanceof DuplicateMemberError ? 'Write each once.' : 'Write fewer.'
      return refused(line, text, `${error.message}. ${hint}`)
    }
    const isSyntax = error instanceof SyntaxError
    const why = isSyntax ? error.message.slice(0, 200).toWellFormed() : 'it is nested too deeply'
    return refused(line, text, `this is not JSON: ${why}. Write one object in each line.`)
  }
  if (!isObject(object)) return refused(line, text, 'this is no object. Write one object in each line.')
  if (isDeeper(object, levelsMax))
    return refused(line, text, `it is nested more than ${levelsMax} levels deep. Write it flatter.`)
  if (nul.test(text)) return refused(line, text, 'there is a NUL character. Remove it.')
  if (surrogate.test(text) && halfSurrogate.test(JSON.stringify(object)))
    return refused(line, text, 'there is half of a surrogate pair, which is no character. Remove it.')
  return cellsOf(object, line, text, places, columns)
}

/** JSON without duplicate members. Throws JsonLimitError for a duplicate or too many, and SyntaxError. */
function parsed(text: string): Json {
  // Each item takes two characters at least.
  if (text.length > 2 * itemsMax) return parseExactly(text, limits)
  const value = parseJson(text)
  // A text that JSON.stringify reproduces has lost nothing. Exact parsing is slower.
  return JSON.stringify(value) === text.trim() ? value : parseExactly(text, limits)
}

const limits = { levels: Number.POSITIVE_INFINITY, items: itemsMax, takesAnyName: true }

/** The escape of a NUL, whose backslash is not itself escaped. */
const nul = /(?<!\\)(?:\\\\)*\\u0000/
/** The escape of a surrogate. JSON.stringify writes it only for half of a pair. */
const surrogate = /\\u[dD][89a-fA-F]/
const halfSurrogate = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

function cellsOf(
  object: JsonObject,
  line: number,
  text: string,
  places: Map<string, number>,
  columns: string[],
): Row {
  const cells: Cell[] = new Array(columns.length).fill(null)
  for (const name of Object.keys(object)) {
    let place = places.get(name)
    if (place === undefined) {
      const wrong = name.length > columnNameMax || columns.length >= columnsMax
      if (wrong) {
        const limit = `at most ${columnsMax} members, whose names have at most ${columnNameMax} characters`
        return refused(line, text, `the objects of a file may have ${limit}.`)
      }
      place = columns.push(name) - 1
      places.set(name, place)
    }
    cells[place] = object[name]!
  }
  return { line, cells }
}

/** The row of a line that is no row, with the first characters of its text. */
function refused(line: number, text: string, what: string): Row {
  const shown = text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
  return {
    line,
    cells: [Buffer.from(shown.replaceAll('\0', '\ufffd')).toString()],
    problem: `${placeText({ line })}: ${what}`,
  }
}
