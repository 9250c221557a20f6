/**
 * What a column may be, and how sure that is: by its name, and by what stands in its cells. For guess.ts.
 */
import type { ResourceFields } from '../fields/catalog.ts'
import type { Field } from '../fields/field.ts'
import { comparedName } from '../fields/name.ts'
import { nearest } from '../fields/nearest.ts'
import { bareName, isCurrencyName, ourNames } from '../fields/synonyms.ts'
import type { Contents } from './contents.ts'
import type { Place } from './targets.ts'
import type { Template } from './templates.ts'

type Places = ReadonlyMap<string, Place>

/**
 * How sure a guess is: the very name of a target, a name that differs in signs alone, and so on. One that
 * other systems have in common says less than one of our own.
 */
export const scores = {
  exact: 1.1,
  same: 1,
  label: 0.95,
  template: 0.9,
  synonym: 0.8,
  nested: 0.7,
  contents: 0.5,
  near: 0.4,
}

/** How many columns are compared with every label, which takes a while. */
const nearMax = 10
/** How many fields are told whose options the cells of a column name. */
const alikeMax = 5

type Named = { readonly field: string; readonly own: Field | null; readonly score: number }

/** What all columns of a file are compared with. */
export type Index = {
  readonly places: Places
  readonly byName: ReadonlyMap<string, Field>
  /** names without blanks and signs → what is called so */
  readonly named: ReadonlyMap<string, readonly Named[]>
  readonly labels: ReadonlyMap<string, Field>
  /** names and labels, without blanks and signs, of fields that can't be written */
  readonly closed: ReadonlySet<string>
  /** targets whose options cells may name, with the names as they are compared */
  readonly options: readonly { readonly place: Place; readonly names: ReadonlySet<string> }[]
  /** targets that are known by what their cells look like */
  readonly judged: readonly Place[]
  /** names of members → those of the contacts and companies that a record points to */
  readonly nested: ReadonlyMap<string, readonly Place[]>
  compared: number
}

/** `columns`: what a system calls its columns → targets. */
export function indexOf(places: Places, { fields, byName }: ResourceFields, columns: Template): Index {
  const named = new Map<string, Named[]>()
  const add = (name: string, field: string, own: Field | null, score: number) => {
    const bare = bareName(name)
    const all = named.get(bare)
    if (all) all.push({ field, own, score })
    else named.set(bare, [{ field, own, score }])
  }
  for (const place of places.values()) {
    const { field, label, of, own, isNested, isListed, member } = place
    const isOwn = !isNested && member === null && of.internal_name === field
    if (isOwn) {
      add(field, field, of, scores.same)
      if (of.is_custom) add(field.slice(3), field, of, scores.same)
      add(of.field_name, field, of, scores.label)
    } else {
      add(field, field, null, scores.same)
      add(label, field, null, isNested ? scores.nested : scores.label)
    }
    // Company or contact: the form says whose it is. A name alone is the record's own.
    if (isNested && !isListed && member === null) {
      add(own.internal_name + of.internal_name, field, null, scores.synonym)
      if (of.internal_name !== 'name') {
        add(of.internal_name, field, null, scores.nested)
        add(of.field_name, field, null, scores.nested)
      }
    }
  }
  for (const [name, field] of Object.entries(columns)) add(name, field, null, scores.template)
  const all = [...places.values()]
  const nested = all.filter(place => place.isNested && !place.isListed && place.member === null)
  const withOptions = all.filter(place => place.form === 'option' && !place.isNested)
  const own = all.filter(place => !place.isNested && place.member === null)
  const closed = fields.filter(field => field.is_read_only && !places.has(field.internal_name))
  return {
    ...{ places, byName, named, compared: 0 },
    closed: new Set(closed.flatMap(field => [field.internal_name, field.field_name].map(bareName))),
    labels: new Map(own.map(({ of }) => [of.field_name, of])),
    options: withOptions.map(place => ({
      place,
      names: new Set(place.of.options.map(({ name }) => comparedName(name))),
    })),
    judged: all.filter(({ form, member, isListed }) => {
      if (form === 'currency') return !isListed
      return member === null && !isListed && (form === 'emails' || form === 'phones' || form === 'money')
    }),
    nested: Map.groupBy(nested, place => place.of.internal_name),
  }
}

/** The targets that a column may have, with scores up to 1; one may come several times. */
export function candidatesFor(
  name: string,
  contents: Contents,
  index: Index,
): { field: string; score: number }[] {
  const { places, byName, named, nested, labels, closed } = index
  const found: { field: string; score: number }[] = []
  const whole = bareName(name)
  // What is in brackets may be a part of the name, else it is a unit or the count of a column.
  const isKnown = named.has(whole) || ourNames(whole).length > 0 || closed.has(whole)
  const bare = isKnown ? whole : bareName(name.replace(/\s*[([][^()[\]]*[)\]]\s*$/, ''))
  // A field that nobody may write is not taken for another.
  const own = byName.get(name.split('.')[0]!)
  if (own?.is_read_only && !places.has(name)) return found
  if (closed.has(bare) && !named.has(bare)) return found
  const add = (field: string, score: number) => {
    if (places.has(field)) found.push({ field, score })
  }
  const ofField = (field: Field | undefined, score: number) => {
    if (field) add(variantOf(field, bare, contents, places), score)
  }
  const known = named.get(bare) ?? []
  // What the record itself calls so is not looked for in others.
  const isOwn = known.some(({ own }) => own !== null)
  for (const { field, own, score } of known)
    if (own) ofField(own, score)
    else add(typed(bare, field, places), score)
  const ours = ourNames(bare)
  ours.forEach((our, place) => {
    ofField(byName.get(our), scores.synonym - place * 0.02)
    for (const { field } of isOwn || our === 'name' ? [] : (nested.get(our) ?? []))
      add(typed(bare, field, places), scores.nested - place * 0.02)
  })
  addByContents(contents, index, add)
  if (found.length === 0 && index.compared++ < nearMax) {
    const near = nearest(name, labels.keys())
    ofField(near === null ? undefined : labels.get(near), scores.near)
  }
  return found
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

/** The target of a field that its cells are for: a whole amount or its number, an id or a name. */
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

/** The kind of address or number that a name says: `phones.mobile` of "Mobile phone". */
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
  [/other|fax/, 'other'],
]
