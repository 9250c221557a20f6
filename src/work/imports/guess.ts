/**
 * Guesses the targets of a file's columns: by our names and labels, by the names in other systems' exports,
 * by synonyms, and by the cells (D80). An unsure column stays open, with a reason.
 */
import type { Catalog, ResourceSchema } from '../../fields/catalog.ts'
import { bareName, ourNames } from '../../fields/synonyms.ts'
import type { Cell } from '../../files/read.ts'
import { isRefusedFile, ofRefused } from '../../files/read-header.ts'
import { asText } from '../../json.ts'
import { mapYielding } from '../../waiting/yielding.ts'
import { candidatesFor, type Index, indexOf, type ScoredTarget, scores, whyLeftOut } from './candidates.ts'
import { isYesNo } from './cell-options.ts'
import { pricesApart } from './column-currency.ts'
import { isQuestion, namedById } from './column-name.ts'
import type { OpenReason, Unmapped } from './columns.ts'
import { Contents } from './contents.ts'
import { type Place, placesOf, type Target } from './targets.ts'
import { type System, type Template, templates } from './templates.ts'

/** Missing columns are ignored, and so is the second of two with the same target. */
export type Mapping = readonly { readonly column: number; readonly field: string }[]

/** Each column is in exactly one of both. */
export type Guess = { readonly mapping: Mapping; readonly unmapped: readonly Unmapped[] }

type Candidate = ScoredTarget & { readonly column: number }
type ColumnCandidates = { readonly candidates: readonly Candidate[]; readonly unmapped: Unmapped }

/** Minimum score of a guess that is taken without a person's confirmation. */
const sureMin = 0.6
/** Minimum number of a system's column names in a file that is its export. */
const systemMin = 2

/** All targets of a resource, in the order of the form. */
export function targetsOf(catalog: Catalog, schema: ResourceSchema): readonly Target[] {
  return [...placesOf(catalog, schema).values()].map(({ field, label, type, isRequired, options, of }) => ({
    ...{ field, label, type, isRequired },
    ...(options ? { options: of.related === 'pipeline_stage' ? stagesOf(options, catalog) : options } : {}),
  }))
}

/** If there are several pipelines, each stage has its pipeline's name: "Sales · New". */
function stagesOf(options: NonNullable<Target['options']>, { pipelines, stages }: Catalog): typeof options {
  if (pipelines.size < 2) return options
  return options.map(({ id, name }) => {
    const pipeline = pipelines.get(stages.get(id)?.pipeline ?? 0)
    return { id, name: pipeline ? `${pipeline.name} · ${name}` : name }
  })
}

/** The labels of the targets. */
export function labelsOf(catalog: Catalog, schema: ResourceSchema): ReadonlyMap<string, string> {
  return new Map([...placesOf(catalog, schema)].map(([field, { label }]) => [field, label]))
}

/**
 * The likeliest target of each column; each target once. `samples`: the first rows. `isEmpty`: true if no row
 * has a value in a column. `system`: the source of the export; default: detected.
 */
export async function guessColumns(
  catalog: Catalog,
  schema: ResourceSchema,
  columns: readonly string[],
  samples: readonly (readonly Cell[])[],
  isEmpty: (column: number) => boolean = () => false,
  system: System | null = systemOf(schema.resource.name, columns),
): Promise<Guess> {
  const index = indexOf(catalog, schema, system ? templateFor(system, schema, columns, catalog) : {})
  const isOfRefused = isRefusedFile(columns)
  const looked = await mapYielding([...columns.entries()], ([column, name]): ColumnCandidates => {
    const left = (why: OpenReason, candidates: readonly Candidate[] = []): ColumnCandidates => ({
      candidates,
      unmapped: { column, why, field: null },
    })
    if (isOfRefused && column >= columns.length - ofRefused.length) return left('refused_file')
    const cells = samples.map(row => row[column])
    const contents = new Contents(cells, catalog)
    const why = whyLeftOut(name, contents, index)
    if (why !== null) return left(why)
    const one = lookedAt(column, name, contents, index)
    return isEmpty(column) ? left('empty', one.candidates) : one
  })
  return chosen(pricesApart(looked, columns, index), index, samples)
}

/** The system whose export has most of the columns; null if none has two of them. */
export function systemOf(resource: string, columns: readonly string[]): System | null {
  const names = new Set(columns.map(bareName))
  const counts = (Object.keys(templates) as System[]).map(system => {
    const template: Template = templates[system][resource] ?? {}
    return { system, count: Object.keys(template).filter(name => names.has(bareName(name))).length }
  })
  const best = counts.reduce((one, other) => (other.count > one.count ? other : one))
  return best.count >= systemMin ? best.system : null
}

/**
 * The column names of a system. Those without a field here are known only in files that have names of the
 * system alone: elsewhere such a name may mean something else.
 */
function templateFor(
  system: System,
  schema: ResourceSchema,
  columns: readonly string[],
  catalog: Catalog,
): Template {
  const template: Template = templates[system][schema.resource.name] ?? {}
  const { named } = indexOf(catalog, schema, {})
  const names = new Set(columns.map(bareName))
  const own = Object.keys(template)
    .map(bareName)
    .filter(bare => names.has(bare) && !named.has(bare) && ourNames(bare).length === 0)
  if (own.length >= systemMin) return template
  return Object.fromEntries(Object.entries(template).filter(([, field]) => field !== null))
}

/** The targets that fit a column, and the reason to report if none of them is taken. */
function lookedAt(column: number, name: string, contents: Contents, index: Index): ColumnCandidates {
  const { places, byName } = index
  const found = candidatesFor(name, contents, index)
  // The interface's name of a field or of its part is certain, whatever the cells are.
  const isExact = byName.has(name) || places.has(name)
  const fitting: Candidate[] = []
  const unfit: { why: OpenReason; field: string }[] = []
  for (const { field, score } of found) {
    const place = places.get(field)!
    if (isExact && score >= scores.same) fitting.push({ column, field, score: scores.exact })
    else if (hasForeignIds(place, contents))
      unfit.push({ why: namedById(name) === null ? 'numbers' : 'foreign_id', field })
    else if (!mayBe(place, name, contents, score, index)) unfit.push({ why: 'misfit', field })
    else fitting.push({ column, field, score })
  }
  const [first] = unfit
  const why = fitting.length ? 'taken' : (first?.why ?? 'unknown')
  return { candidates: fitting, unmapped: { column, why, field: fitting[0]?.field ?? first?.field ?? null } }
}

/** True if a column would link records by ids that are not known to be ours. */
function hasForeignIds(place: Place, contents: Contents): boolean {
  const { form, field, isNested, options = [] } = place
  // A company that is found or created by name must not get an id as its name.
  if (isNested && /\.(?:last_)?name$/.test(field)) return contents.areNoNames
  const takesIds = form === 'reference' || (form === 'option' && !isYesNo(options))
  return takesIds && contents.areIds && !contents.areNamesOf(options)
}

/** Our names, and those of the detected system, need no cells that fit: those are refused. */
function mayBe(place: Place, name: string, contents: Contents, score: number, { catalog }: Index): boolean {
  if (place.form === 'number' && isQuestion(name)) return false
  // Records that may not be looked up by name take ids alone.
  if (place.form === 'reference' && !catalog.resources.has(place.of.related!)) return contents.isEmpty
  return score >= scores.template || contents.fit(place)
}

/** Takes the best guesses first; one for each column and target. */
function chosen(
  looked: readonly ColumnCandidates[],
  { places, catalog }: Index,
  samples: readonly (readonly Cell[])[],
): Guess {
  const [columns, targets, wholes] = [new Set<number>(), new Set<string>(), new Set<string>()]
  const better = new Set<number>()
  const taken: Candidate[] = []
  const all = looked.flatMap(({ candidates }) => candidates)
  const empty = new Set(looked.flatMap(({ unmapped: { why, column } }) => (why === 'empty' ? [column] : [])))
  const filled = all.filter(({ column }) => !empty.has(column))
  const isInParts = namesInParts(filled, samples)
  for (const one of all.toSorted((a, b) => b.score - a.score || a.column - b.column)) {
    if (columns.has(one.column) || targets.has(one.field)) continue
    if (one.score < scores.exact && (isInParts(one) || isSaidBetter(one.field, targets, wholes))) {
      better.add(one.column)
      continue
    }
    columns.add(one.column)
    targets.add(one.field)
    wholes.add(wholeOf(one.field))
    taken.push(one)
  }
  const unsure = taken.flatMap(({ column, field, score }): Unmapped[] => {
    const isUnsure = score < sureMin
    if (!isUnsure && !isHanging(places.get(field)!, targets, catalog)) return []
    if (empty.has(column)) return [{ column, why: 'empty', field: null }]
    const alike = score < scores.contents - 0.1 ? 'near' : 'contents'
    return [{ column, why: isUnsure ? alike : 'unnamed', field }]
  })
  const open = new Set(unsure.map(({ column }) => column))
  const others = looked.flatMap(({ unmapped }): Unmapped[] => {
    if (columns.has(unmapped.column)) return []
    return [better.has(unmapped.column) ? { ...unmapped, why: 'said_better' } : unmapped]
  })
  return {
    mapping: taken
      .filter(({ column }) => !open.has(column))
      .sort((a, b) => a.column - b.column)
      .map(({ column, field }) => ({ column, field })),
    unmapped: [...unsure, ...others].sort((a, b) => a.column - b.column),
  }
}

/**
 * True if a column has the whole name and other columns have both parts, which need no guess where to split.
 * Also true if it is the last name, which some files call "Name" beside the first name.
 */
function namesInParts(
  all: readonly Candidate[],
  samples: readonly (readonly Cell[])[],
): (one: Candidate) => boolean {
  const sure = Map.groupBy(
    all.filter(({ score, field }) => score >= sureMin && /_name$/.test(field)),
    ({ field }) => field,
  )
  const holds = (column: number, part: number) =>
    samples.some(cells => cells[part] && asText(cells[column]).includes(asText(cells[part])))
  return ({ column, field }) => {
    if (!/(?:^|\.)name$/.test(field)) return false
    const having = (part: string) => sure.get(field.replace(/name$/, `${part}_name`)) ?? []
    const first = having('first').find(other => other.column !== column)
    if (!first) return false
    return having('last').some(other => other.column !== column || !holds(column, first.column))
  }
}

/** True if a target is a part of another record that no column names, so the part has no owner. */
function isHanging({ isNested, own }: Place, targets: ReadonlySet<string>, catalog: Catalog): boolean {
  if (!isNested) return false
  const { namedBy = [], shownAs } = catalog.resources.get(own.related!)!.resource
  const naming = ['name', shownAs.at(-1)!, ...namedBy].map(name => `${own.internal_name}.${name}`)
  return ![...targets].some(
    field =>
      field === own.internal_name || naming.some(name => field === name || field.startsWith(`${name}.`)),
  )
}

/** True if other columns have the parts and this one the whole, or the reverse. */
function isSaidBetter(field: string, targets: ReadonlySet<string>, wholes: ReadonlySet<string>): boolean {
  // Addresses and numbers of several kinds may coexist.
  const isList = (one: string) => /(?:emails|phones)$/.test(one)
  const whole = wholeOf(field)
  if (whole !== field && targets.has(whole) && !isList(whole)) return true
  if (/(?:^|\.)name$/.test(field)) return targets.has(field.replace(/name$/, 'last_name'))
  if (/(?:^|\.)(?:first|last)_name$/.test(field))
    return targets.has(field.replace(/(?:first|last)_name$/, 'name'))
  return !isList(field) && !targets.has(field) && wholes.has(field)
}

/** `deal_value` of `deal_value.currency`; a whole is returned unchanged. */
function wholeOf(field: string): string {
  return field.replace(/(?:\.price\.[A-Z]{3}|\.[^.]*)$/, '')
}
