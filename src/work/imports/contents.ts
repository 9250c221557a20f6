/** Statistics of a column's cells, from a sample. For guesses only. */
import type { Catalog } from '../../fields/catalog.ts'
import { comparedName } from '../../fields/name.ts'
import type { Cell } from '../../files/read.ts'
import {
  dayOf,
  isWritten,
  itemsOf,
  json,
  momentOf,
  numberOf,
  shownNumber,
  timeOf,
} from '../../files/texts.ts'
import { isObject } from '../../json.ts'
import { isCurrency, isSaidCurrency } from './amounts.ts'
import { isYesNo, saysYesOrNo } from './cell-options.ts'
import type { Form, Place } from './targets.ts'

const email = /^[^\s@<>;,]+@[^\s@<>;,]+\.[^\s@<>;,]{2,}$|<[^\s@<>]+@[^\s@<>]+>$/
const phone = /^\+?[\d\s()./-]{6,20}$/
/** Digits alone or in groups of three, with or without decimals: a number of any kind. */
const plainNumber = /^-?(?:\d+(?:[.,]\d+)?|[1-9]\d{0,2}(?:[\s.]\d{3})+(?:[.,]\d+)?)$/
const sampleMax = 20
const textMax = 200

export class Contents {
  readonly cells: readonly Exclude<Cell, null>[]
  readonly #texts: readonly string[]
  readonly #catalog: Catalog
  #names: readonly string[] | null = null

  constructor(cells: readonly (Cell | undefined)[], catalog: Catalog) {
    const given = cells.filter(cell => cell !== null && cell !== undefined && cell !== '')
    this.cells = given.slice(0, sampleMax) as Exclude<Cell, null>[]
    this.#texts = this.cells.map(cell => textOf(cell).slice(0, textMax).trim())
    this.#catalog = catalog
  }

  get isEmpty(): boolean {
    return this.cells.length === 0
  }

  get areEmails(): boolean {
    return this.#most(text => itemsOf(text, /[;,\r\n]/).every(item => email.test(item)))
  }

  /** Numbers that can only be telephone numbers. */
  get arePhones(): boolean {
    return this.#most(isPhone)
  }

  /** Ids: whole numbers, as texts or not. */
  get areIds(): boolean {
    return this.#most(text => itemsOf(text).every(item => /^\d{1,15}$/.test(item)))
  }

  /** Ids of any system: words that contain a number. */
  get areCodes(): boolean {
    return this.#most(text => itemsOf(text).every(item => /^(?=.*\d)[\w-]{1,64}$/.test(item)))
  }

  /** Words that are no names: they have three digits or more. */
  get areNoNames(): boolean {
    return this.#most(text => /^(?=(?:[^\d]*\d){3})[\w-]{4,64}$/.test(text))
  }

  get areObjects(): boolean {
    return this.cells.some(hasObjects) || this.#most(text => /^[[{]/.test(text))
  }

  get areCurrencies(): boolean {
    return this.#most(text => /^\D{1,4}$/.test(text) && isCurrency(text, this.#catalog))
  }

  /** Amounts with the sign or the code of a currency. */
  get haveCurrencies(): boolean {
    return this.#most(text => {
      const found = numberOf(text, '.') ?? numberOf(text, ',')
      return found !== null && isSaidCurrency(found.unit, this.#catalog)
    })
  }

  /** True if most cells are among the names, which are normalized for comparison. Ids are not. */
  areAmong(names: ReadonlySet<string>, isSeveral: boolean): boolean {
    if (names.size === 0) return false
    const isName = (name: string) => names.has(name) && /\D/.test(name)
    this.#names ??= this.#texts.map(comparedName)
    return mostly(this.#names, text => (isSeveral ? itemsOf(text) : [text]).every(isName))
  }

  /** True if most cells are names of options, digits or not. */
  areNamesOf(options: readonly { readonly name: string }[]): boolean {
    const names = new Set(options.map(({ name }) => comparedName(name)))
    return this.#most(text => names.has(comparedName(text)))
  }

  /** True if cells may be values of a target: one in five is enough, as the column's name counts, too. */
  fit({ form, of }: Pick<Place, 'form' | 'of'>): boolean {
    const judge = form === 'option' && isYesNo(of.options) ? saysYesOrNo : forms[form]
    if (this.isEmpty || judge === undefined || this.areObjects) return true
    return this.#texts.filter(judge).length >= this.#texts.length * 0.2
  }

  #most(is: (text: string) => boolean): boolean {
    return mostly(this.#texts, is)
  }
}

/** A phone number begins with +, or has groups of digits: three, or two after a 0 or a bracket. */
function isPhone(text: string): boolean {
  if (!phone.test(text) || text.replace(/\D/g, '').length < 6) return false
  if (text.startsWith('+')) return true
  if (plainNumber.test(text) || dayOf(text, 'dmy') !== null || dayOf(text, 'mdy') !== null) return false
  return (text.match(/\d+/g) ?? []).length >= (/^[0(]/.test(text) ? 2 : 3)
}

/** True if four of five match. Stops once too many don't. */
function mostly(texts: readonly string[], is: (text: string) => boolean): boolean {
  let others = Math.floor(texts.length * 0.2)
  return texts.length > 0 && texts.every(text => is(text) || others-- > 0)
}

function hasObjects(cell: Cell): boolean {
  return (
    (isObject(cell) && !isWritten(cell)) ||
    (Array.isArray(cell) && cell.some(item => isObject(item) || Array.isArray(item)))
  )
}

/** A cell as a text; several values joined as in our exports. */
function textOf(cell: Exclude<Cell, null>): string {
  if (typeof cell === 'string') return cell
  if (isWritten(cell)) return shownNumber(cell)
  if (Array.isArray(cell) && !hasObjects(cell))
    return cell.map(item => (typeof item === 'string' ? item : JSON.stringify(item))).join('; ')
  return JSON.stringify(cell)
}

const utc = (date: string, time: string) => `${date}T${time}Z`

/** Tests of texts by form; for the other forms any text is possible. */
const forms: { readonly [form in Form]?: (text: string) => boolean } = {
  number: text => numberOf(text, undefined) !== null,
  money: text => numberOf(text, undefined) !== null,
  prices: text => numberOf(text, undefined) !== null,
  date: text => dayOf(text, undefined) !== null,
  moment: text => momentOf(text, undefined, utc) !== null,
  time: text => timeOf(text) !== null,
  emails: text => text.includes('@'),
  phones: text => /\d{3}/.test(text.replace(/\D/g, '')),
  currency: text => text.length <= 30 && /^\D+$/.test(text),
  json: text => json(text) !== undefined,
}
