/** The possible targets of a column with their scores, by its name and its cells. For guess.ts. */
import type { Catalog, ResourceSchema } from '../../fields/catalog.ts'
import type { Field } from '../../fields/field.ts'
import { comparedName } from '../../fields/name.ts'
import { nearest } from '../../fields/nearest.ts'
import { bareName, isCurrencyName, ourNames, ourResource } from '../../fields/synonyms.ts'
import { lessSaid } from './column-currency.ts'
import { addressParts, isFax, namedById, nameParts, readingOf, wholeNames, wordsOf } from './column-name.ts'
import type { LeftOutReason } from './columns.ts'
import type { Contents } from './contents.ts'
import { type Place, placesOf } from './targets.ts'
import type { Template } from './templates.ts'

type Places = ReadonlyMap<string, Place>

/**
 * Scores of a guess: the exact name of a target, a name that differs in punctuation only, and so on. A name
 * that other systems use scores less than one of our own.
 */
export const scores = {
  exact: 1.1,
  same: 1,
  label: 0.95,
  template: 0.9,
  synonym: 0.8,
  nested: 0.7,
  contents: 0.5,
  near: 0.35,
}

/** Maximum number of columns compared with every label, which is slow. */
const nearMax = 10
/** Maximum number of fields suggested for a column whose cells name their options. */
const alikeMax = 5

type NamedTarget = { readonly field: string; readonly own: Field | null; readonly score: number }

/** The index that every column of a file is compared with. */
export type Index = {
  readonly catalog: Catalog
  readonly resource: string
  readonly places: Places
  readonly byName: ReadonlyMap<string, Field>
  /** names without blanks and punctuation → the targets with that name */
  readonly named: ReadonlyMap<string, readonly NamedTarget[]>
  readonly labels: ReadonlyMap<string, Field>
  /** names and labels, without blanks and punctuation, of fields that can't be written */
  readonly closed: ReadonlySet<string>
  /** bare names of another system's columns that have no field here */
  readonly nowhere: ReadonlySet<string>
  /** targets whose options cells may name, with the names normalized for comparison */
  readonly options: readonly { readonly place: Place; readonly names: ReadonlySet<string> }[]
  /** targets that are recognized by their cells */
  readonly judged: readonly Place[]
  /** member names → targets in the contacts and companies that a record points to */
  readonly nested: ReadonlyMap<string, readonly Place[]>
  /** fields that point to records → names of their members → targets */
  readonly parts: ReadonlyMap<string, ReadonlyMap<string, string>>
  compared: number
}

/** `columns`: column names of a system → targets; null: no field here. */
export function indexOf(catalog: Catalog, about: ResourceSchema, columns: Template): Index {
  const { resource, fields, byName } = about
  const places = placesOf(catalog, about)
  const all = [...places.values()]
  // In a file of people, a phone number is the person's, not the company's.
  const isOfOthers = !byName.has('phones')
  const nested = all.filter(place => place.isNested && !place.isListed && place.member === null)
  const withOptions = all.filter(place => place.form === 'option' && !place.isNested)
  const own = all.filter(place => !place.isNested && place.member === null)
  const closed = fields.filter(field => field.is_read_only && !places.has(field.internal_name))
  const unknown = Object.entries(columns).filter(([, field]) => field === null)
  return {
    ...{ catalog, resource: resource.name, places, byName, compared: 0 },
    named: namesIn(all, columns, isOfOthers),
    closed: new Set(closed.flatMap(field => [field.internal_name, field.field_name].map(bareName))),
    nowhere: new Set(unknown.map(([name]) => bareName(name))),
    labels: new Map(own.map(({ of }) => [of.field_name, of])),
    options: withOptions.map(place => ({
      place,
      names: new Set(place.of.options.map(({ name }) => comparedName(name))),
    })),
    judged: all.filter(({ form, member, isListed, isNested }) => {
      if (isNested && !isOfOthers) return false
      if (form === 'currency') return !isListed
      return member === null && !isListed && (form === 'emails' || form === 'phones' || form === 'money')
    }),
    nested: Map.groupBy(isOfOthers ? nested : [], place => place.of.internal_name),
    parts: partsIn(all),
  }
}

function namesIn(
  all: readonly Place[],
  columns: Template,
  isOfOthers: boolean,
): ReadonlyMap<string, readonly NamedTarget[]> {
  const named = new Map<string, NamedTarget[]>()
  const add = (name: string, field: string, own: Field | null, score: number) => {
    const bare = bareName(name)
    const some = named.get(bare)
    if (some) some.push({ field, own, score })
    else named.set(bare, [{ field, own, score }])
  }
  for (const { field, label, of, own, isNested, isListed, member, form } of all) {
    const isOwn = !isNested && member === null && of.internal_name === field
    if (isOwn) {
      add(field, field, of, scores.same)
      if (of.is_custom) add(field.slice(3), field, of, scores.same)
      add(of.field_name, field, of, scores.label)
    } else {
      add(field, field, null, scores.same)
      add(label, field, null, isNested ? scores.nested : scores.label)
    }
    if (form === 'name')
      for (const word of wholeNames)
        add(isNested ? own.internal_name + word : word, field, null, scores.synonym)
    // Company or contact: the form shows whose it is. A bare name is the record's own.
    if (isNested && !isListed && member === null) {
      add(own.internal_name + of.internal_name, field, null, scores.synonym)
      if (of.internal_name !== 'name' && isOfOthers) {
        add(of.internal_name, field, null, scores.nested)
        add(of.field_name, field, null, scores.nested)
      }
    }
    if (member !== null && form === 'text' && !isListed && (!isNested || isOfOthers))
      for (const word of addressParts[member] ?? [])
        add(word, field, null, isNested ? scores.nested : scores.synonym)
  }
  for (const [name, field] of Object.entries(columns)) if (field) add(name, field, null, scores.template)
  return named
}

function partsIn(all: readonly Place[]): Index['parts'] {
  const parts = new Map<string, Map<string, string>>()
  for (const { field, of, own, isNested, isListed, member, form } of all) {
    if (!isNested || isListed) continue
    const known = parts.get(own.internal_name) ?? new Map<string, string>()
    parts.set(own.internal_name, known)
    if (member !== null && addressParts[member])
      for (const word of addressParts[member]) known.set(word, field)
    if (member === null || form === 'name')
      for (const name of [field.split('.').at(-1)!, of.field_name]) known.set(bareName(name), field)
  }
  return parts
}

/** The reason why a column has no target, if that is certain; else null. */
export function whyLeftOut(name: string, contents: Contents, index: Index): LeftOutReason | null {
  const { resource, places, byName, named, closed, nowhere } = index
  if (places.has(name)) return null
  const bare = bareName(name)
  if (nowhere.has(bare) || isFax(name)) return 'nowhere'
  // A read-only field is not mistaken for another.
  if (byName.get(name.split('.')[0]!)?.is_read_only) return 'read_only'
  const base = namedById(name)
  if (base !== null && !named.has(bare) && (contents.isEmpty || contents.areCodes)) {
    const isRecord = base === '' || base === 'record' || base === resource || ourResource(base) !== undefined
    if (isRecord || named.has(base) || ourNames(bare).length > 0) return 'foreign_id'
  }
  if (named.has(bare)) return null
  const ours = ourNames(bare)
  const isOurs = ours.some(our => places.has(our) || index.nested.has(our))
  return closed.has(bare) || (!isOurs && ours.some(our => byName.get(our)?.is_read_only)) ? 'read_only' : null
}

export type ScoredTarget = { readonly field: string; readonly score: number }

/** The possible targets of a column, with scores up to 1. A target may come several times. */
export function candidatesFor(name: string, contents: Contents, index: Index): readonly ScoredTarget[] {
  const { places, byName, named, nested, labels, closed } = index
  const found: ScoredTarget[] = []
  const isKnown = (bare: string) => named.has(bare) || ourNames(bare).length > 0 || closed.has(bare)
  const { bare, nth } = readingOf(name, isKnown, lessSaid(name, contents, index.catalog))
  const whole = bareName(name)
  const add = (field: string, score: number) => {
    const several = nth > 1 ? severalOf(field, places) : lineOf(field, contents, places)
    if (several !== null && places.has(several))
      found.push({ field: several, score: score - nth / 100 + 0.01 })
  }
  const ofField = (field: Field | undefined, score: number) => {
    if (field) add(variantOf(field, whole, contents, places), score)
  }
  const known = named.get(bare) ?? []
  // A name of the record's own fields is not searched for in other records.
  const isOwn = known.some(({ own, field }) => own !== null || !places.get(field)?.isNested)
  for (const { field, own, score } of known)
    if (own) ofField(own, score)
    else if (!isOwn || !places.get(field)?.isNested || score !== scores.nested)
      add(typed(whole, field, places), score)
  const isPart = Object.values(addressParts).some(words => words.includes(bare))
  const ours = isPart ? [] : ourNames(bare)
  ours.forEach((our, place) => {
    ofField(byName.get(our), scores.synonym - place * 0.02)
    for (const { field } of isOwn || our === 'name' ? [] : (nested.get(our) ?? []))
      add(typed(whole, field, places), scores.nested - place * 0.02)
  })
  if (found.length === 0) for (const field of partsOfName(name, index)) add(field, scores.synonym)
  addByContents(contents, index, add)
  if (found.length === 0 && index.compared++ < nearMax) {
    const near = nearest(name, labels.keys())
    ofField(near === null ? undefined : labels.get(near), scores.near)
  }
  return found
}

/** An address as a text is its first line: other columns may have the city. */
function lineOf(field: string, contents: Contents, places: Places): string {
  const isWhole = contents.isEmpty || contents.areObjects || places.get(field)?.form !== 'address'
  return isWhole ? field : `${field}.address_line1`
}

/** The target of a second value of a field: there are several phones and addresses, but one title. */
function severalOf(field: string, places: Places): string | null {
  const { form, member } = places.get(field) ?? {}
  if (form !== 'emails' && form !== 'phones') return null
  return member === null ? `${field}.other` : field
}

/** "Owner email" and "Contact first": members of the records that a field points to. */
function partsOfName(name: string, { named, byName, places, parts }: Index): string[] {
  const words = wordsOf(name)
  for (let at = 1; at < words.length; at++) {
    const [left, right] = [words.slice(0, at).join(''), words.slice(at).join('')]
    if (isCurrencyName(right)) {
      const amounts = [...(named.get(left) ?? []).map(({ field }) => field.split('.')[0]!), ...ourNames(left)]
      const amount = amounts.find(one => places.has(`${one}.currency`))
      if (amount !== undefined) return [`${amount}.currency`]
    }
    const owns = [
      ...(named.get(left) ?? []).map(({ own }) => own),
      ...ourNames(left).map(our => byName.get(our) ?? null),
    ]
    const own = owns.find(field => field?.related)
    if (!own) continue
    const isOfUser = own.related === 'user' && (right === 'name' || ourNames(right).includes('emails'))
    if (isOfUser) return [own.internal_name]
    const known = parts.get(own.internal_name)
    const our = [right, nameParts[right] ?? '', ...ourNames(right)].find(one => known?.has(bareName(one)))
    if (our !== undefined) return [typed(bareName(name), known!.get(bareName(our))!, places)]
  }
  return []
}

function addByContents(contents: Contents, index: Index, add: (field: string, score: number) => void): void {
  if (contents.isEmpty) return
  const { areEmails, arePhones, areCurrencies, haveCurrencies } = contents
  for (const { field, form } of index.judged) {
    if (form === 'emails' && areEmails) add(field, scores.contents)
    else if (form === 'phones' && arePhones) add(field, scores.contents - 0.1)
    else if (form === 'currency' && areCurrencies) add(field, scores.contents)
    else if (form === 'money' && haveCurrencies) add(field, scores.contents)
  }
  let left = alikeMax
  for (const { place, names } of index.options) {
    if (!contents.areAmong(names, place.isSeveral)) continue
    add(place.field, scores.contents)
    if (--left === 0) return
  }
}

/** The variant of a field's target that fits the cells: a whole amount or its number, an id or a name. */
function variantOf({ internal_name: name }: Field, bare: string, contents: Contents, places: Places): string {
  const place = places.get(name)
  if (!place) return name
  if (place.form === 'money' || place.form === 'prices') {
    if (contents.areObjects) return name
    if (isCurrencyName(bare) || contents.areCurrencies) return `${name}.currency`
    if (contents.haveCurrencies) return name
    return place.form === 'money' ? `${name}.value` : `${name}.price`
  }
  const type = typed(bare, name, places)
  if (type !== name) return type
  if (!places.has(`${name}.name`) || contents.areIds || contents.areObjects) return name
  return contents.areEmails && places.has(`${name}.emails`) ? `${name}.emails` : `${name}.name`
}

/** The target with the kind of address or number that a name states: `phones.mobile` of "Mobile phone". */
function typed(bare: string, field: string, places: Places): string {
  if (!/(?:emails|phones)$/.test(field)) return field
  const type = words.find(([word]) => word.test(bare))?.[1]
  const part = `${field}.${type === 'home' && field.endsWith('phones') ? 'personal' : type}`
  return places.has(part) ? part : field
}

const words: readonly [word: RegExp, type: string][] = [
  [/mobil|cell|handy|portable|móvil/, 'mobile'],
  [/home|private|personal/, 'home'],
  [/work|business|office/, 'work'],
  [/other/, 'other'],
]
