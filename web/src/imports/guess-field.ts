/** Guesses the label and type of a new field for a column of a file. Pure. */
import type { CustomType } from '../fields/custom-types.ts'
import { textOf } from './cells.ts'
import type { Column } from './import.ts'

type FieldGuess = {
  readonly label: string
  readonly type: CustomType
  readonly options: readonly string[]
  /** True if it has the ids of the file's records in another system */
  readonly isKey: boolean
}

const number = /^[-−+]?(0|[1-9]\d{0,2}([.,' ]\d{3})+|[1-9]\d{0,14})([.,]\d{1,9})?$/
const unit = /^([$€£¥]|[A-Z]{3}) ?(?=[-\d])|(?<=\d) ?([$€£¥]|[A-Z]{3})$/
const date = /^(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(\d{4}|\d{2}))$/
const yesOrNo = /^(yes|no|y|n|true|false)$/i

/** The first type that all samples fit. */
const types: readonly (readonly [type: CustomType, fits: (text: string) => boolean])[] = [
  ['EMAIL', text => /^[^\s@<>;,]+@[^\s@<>;,]+\.[^\s@<>;,]{2,}$/.test(text)],
  ['DATE', text => date.test(text)],
  ['TIME', text => /^\d{1,2}:\d{2}(:\d{2})?$/.test(text)],
  ['SINGLE_NUMBER', text => number.test(text)],
  ['MONETARY', text => unit.test(text) && number.test(text.replace(unit, ''))],
  ['PHONE', text => /^\+[\d\s()./-]{6,20}$/.test(text)],
]

/** Number of samples from the service, if there are more. */
const samplesMax = 5
/** With this number of rows for each text, the texts are taken for choices. */
const rowsEach = 3
const [choiceMax, lineMax] = [40, 150]

/** Names of resources in other systems. */
const names: { readonly [resource: string]: string } = {
  deal: 'deal|opportunity|potential',
  company: 'company|account|organi[sz]ation',
  contact: 'contact|person|people|lead',
  product: 'product|item',
  activity: 'activity|task|event',
}

/** True if a column has the name of the file's own ids: "Id", "Record ID", "Deal ID". */
function isKey(label: string, resource: string): boolean {
  const own = names[resource] ?? resource
  return new RegExp(`^(?:(?:record|external|${own})[ _-]*)?id$`, 'i').test(label)
}

/** `rows`: number of rows of the file. */
export function guessField(
  { name, samples }: Pick<Column, 'name' | 'samples'>,
  resource: string,
  rows: number,
): FieldGuess {
  const texts = samples.map(sample => textOf(sample).trim())
  const label = name.trim()
  if (isKey(label, resource)) return { label: 'External id', type: 'SINGLE_STRING', options: [], isKey: true }
  return { label, ...guessType(texts, rows), isKey: false }
}

function guessType(texts: readonly string[], rows: number): Pick<FieldGuess, 'type' | 'options'> {
  const [type] = (texts.length && types.find(([, fits]) => texts.every(fits))) || []
  if (type) return { type, options: [] }
  if (texts.length && texts.every(text => yesOrNo.test(text)))
    return { type: 'DROPDOWN', options: ['Yes', 'No'] }
  if (texts.some(text => text.length > lineMax || text.includes('\n'))) return { type: 'TEXT', options: [] }
  const areFew = texts.length > 0 && texts.length < samplesMax && rows >= texts.length * rowsEach
  if (areFew && texts.every(text => text.length <= choiceMax)) return { type: 'DROPDOWN', options: texts }
  return { type: 'SINGLE_STRING', options: [] }
}
