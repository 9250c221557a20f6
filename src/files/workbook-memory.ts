/** The memory that the texts of a workbook take while it is read, within a limit. */
import { cellMax, unreadable } from './read-limits.ts'
import { copied } from './texts.ts'

/** Approximate memory limit of all, and the bytes of a text beside its characters. */
const bytesMax = 64_000_000
const textBytes = 40
/** in characters: a spreadsheet takes 31 for a sheet and 255 for a format */
const nameMax = 4096
/** A format becomes an object for each of its characters. */
const bytesOfToken = 50

export class WorkbookMemory {
  #bytes = 0

  /** A text of a cell. Each method throws a Refusal for a text that is too long, or one too many. */
  text(text: string): string {
    return this.#take(text, cellMax, 2 * text.length)
  }

  /** A name or a path. */
  name(text: string): string {
    return this.#take(text, nameMax, 2 * text.length)
  }

  /** The code of a number format. */
  format(code: string): string {
    return this.#take(code, nameMax, bytesOfToken * code.length)
  }

  #take(text: string, max: number, bytes: number): string {
    this.#bytes += bytes + textBytes
    if (text.length <= max && this.#bytes <= bytesMax) return copied(text)
    throw tooManyTexts()
  }
}

/** The refusal of a workbook for its texts. */
export function tooManyTexts(): Error {
  const what = 'The texts of the workbook are too long, or too many.'
  return unreadable(null, what, 'Save the sheet as CSV.', 'body_too_large')
}
